#!/usr/bin/env python3
"""The movement report in plain Python: the yardstick of docs/performance.md, and an independent second opinion.

It follows docs/movement-model.md literally: every candidate of the coordinate descent prices the whole epoch
anew, by listing all regions, sorting them and summing distances. Nothing is cached between candidates except the
divisors. It knows divisor tiles only.

    baseline_movement.py [--dims 784,...,10] [--examples E] [--batches full,64,...] [--gemm M,K,N]

prints the cases (batch, tiles, steps, charged reads, sweeps, winning start, evaluations) as JSON.
"""
import argparse
import json
import sys
from math import isqrt


def distance_sum(n):
    """P(n): the sum of ceil(sqrt(a)) over a = 1..n."""
    r = isqrt(n)
    return r * (r + 1) * (4 * r - 1) // 6 + (n - r * r) * (r + 1)


def packed(regions):
    """(steps, charged reads) of [(reads per cell, cells)] packed in descending reads."""
    steps = reads = end = 0
    before = 0
    for per_cell, cells in sorted(regions, reverse=True):
        end += cells
        after = distance_sum(end)
        steps += per_cell * (after - before)
        reads += per_cell * cells
        before = after
    return steps, reads


def overlay(buffers):
    """Regions of buffers [(cells, reads per cell)] that all start at the same cell."""
    regions = []
    start = 0
    for size in sorted({cells for cells, _ in buffers}):
        regions.append((sum(reads for cells, reads in buffers if cells >= size), size - start))
        start = size
    return regions


def divisors(n):
    small = [d for d in range(1, isqrt(n) + 1) if n % d == 0]
    return sorted(set(small + [n // d for d in small]))


def gemm_price(m, k, n, ti, tj):
    return packed([(m * k * n, 1), (m * n * (k - 1), 1), (m * k * n // tj, tj), (m * k * n // (ti * tj), ti * tj),
                   (n // tj, m * k), (m // ti, k * n), (1, m * n)])


def epoch_price(widths, examples, calls, tiles):
    """tiles: {(rows, layer): (tile_i, tile_j)}; calls: [(rows, count)]."""
    layers = len(widths) - 1
    sa = tmp = 0
    sb, sc, regions = [], [], []
    for rows, count in calls:
        for layer in range(layers):
            k, n = widths[layer], widths[layer + 1]
            ti, tj = tiles[rows, layer]
            sa += count * rows * k * n
            tmp += count * rows * n * (k - 1)
            sb.append((tj, count * rows * k * n // tj))
            sc.append((ti * tj, count * rows * k * n // (ti * tj)))
        regions.append((widths[1] // tiles[rows, 0][1], count * rows * widths[0]))
    for layer in range(1, layers):
        regions += overlay([(rows * widths[layer], count * (widths[layer + 1] // tiles[rows, layer][1])) for rows, count in calls])
    for layer in range(layers):
        regions.append((sum(count * (rows // tiles[rows, layer][0]) for rows, count in calls), widths[layer] * widths[layer + 1]))
    regions.append((1, examples * widths[-1]))
    return packed([(sa, 1), (tmp, 1)] + overlay(sb) + overlay(sc) + regions)


class Descent:
    def __init__(self, widths, examples, calls):
        self.widths, self.examples, self.calls = widths, examples, calls
        self.keys = [(rows, layer) for rows, _ in calls for layer in range(len(widths) - 1)]
        self.divisors = {n: divisors(n) for n in set(widths) | {rows for rows, _ in calls}}
        self.evaluations = 0

    def candidates(self, key):
        rows, layer = key
        for ti in self.divisors[rows]:
            for tj in self.divisors[self.widths[layer + 1]]:
                yield ti, tj

    def price(self, tiles):
        self.evaluations += 1
        return epoch_price(self.widths, self.examples, self.calls, tiles)[0]

    def starts(self):
        best = {}
        for rows, layer in self.keys:
            m, k, n = rows, self.widths[layer], self.widths[layer + 1]
            best[rows, layer] = min((gemm_price(m, k, n, ti, tj)[0], (ti, tj)) for ti, tj in self.candidates((rows, layer)))[1]
        yield "independent_layer_optima", best
        yield "all_minimum_tiles", {key: (1, 1) for key in self.keys}
        yield "all_maximum_tiles", {(rows, layer): (rows, self.widths[layer + 1]) for rows, layer in self.keys}

    def descend(self, tiles):
        tiles, best, sweeps = dict(tiles), self.price(tiles), 0
        while True:
            sweeps += 1
            changed = False
            for key in self.keys:
                kept = tiles[key]
                for candidate in self.candidates(key):
                    tiles[key] = candidate
                    steps = self.price(tiles)
                    if steps < best:
                        best, kept, changed = steps, candidate, True
                tiles[key] = kept
            if not changed:
                return best, tiles, sweeps

    def run(self):
        winner = None
        for name, tiles in self.starts():
            best, found, sweeps = self.descend(tiles)
            if winner is None or best < winner[0]:
                winner = best, found, sweeps, name
        return winner


def partition(examples, batch):
    return [c for c in ((batch, examples // batch), (examples % batch, 1)) if c[0] and c[1]]


def numbers(text):
    return [int(x) for x in text.split(",")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dims", type=numbers, default=[784, 2500, 2000, 1500, 1000, 500, 10])
    parser.add_argument("--examples", type=int, default=60000)
    parser.add_argument("--batches", default="full,64,16,4,1")
    parser.add_argument("--gemm", type=numbers, default=[8192, 8192, 8192])
    args = parser.parse_args()
    cases, evaluations = {}, 0
    for batch in args.batches.split(","):
        calls = partition(args.examples, args.examples if batch == "full" else int(batch))
        descent = Descent(args.dims, args.examples, calls)
        steps, tiles, sweeps, start = descent.run()
        evaluations += descent.evaluations
        cases[batch] = {
            "steps": steps,
            "charged_reads": epoch_price(args.dims, args.examples, calls, tiles)[1],
            "sweeps": sweeps,
            "winning_start": start,
            "tiles": {str(rows): [list(tiles[rows, layer]) for layer in range(len(args.dims) - 1)] for rows, _ in calls},
        }
    m, k, n = args.gemm
    reference = min(gemm_price(m, k, n, ti, tj)[0] for ti in divisors(m) for tj in divisors(n))
    json.dump({"cases": cases, "reference_steps": reference, "evaluations": evaluations}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
