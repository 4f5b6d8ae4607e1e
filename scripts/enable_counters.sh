#!/usr/bin/env bash
# Lets users other than root read the energy counters of processor packages (RAPL, docs/counters.md).
#
#   scripts/enable_counters.sh            what an administrator would do, step by step; changes nothing
#   scripts/enable_counters.sh --apply    does it; needs root
#   scripts/enable_counters.sh --undo     takes it back; needs root
#
#   --group NAME         members of this group may read (joulegrid)
#   --everyone           everyone may read
#   --powercap-root DIR  instead of /sys/class/powercap (or JOULEGRID_POWERCAP_ROOT of the environment)
#   --rules-dir DIR      instead of /etc/udev/rules.d
#
# Exit status: 0 done; 2 usage; 3 not possible here: not root, no such group, no counter; 1 anything else.
set -euo pipefail

system_rules=/etc/udev/rules.d
action=print group=joulegrid everyone=
root=${JOULEGRID_POWERCAP_ROOT:-/sys/class/powercap} rules=$system_rules

fail() { # STATUS MESSAGE
  printf 'enable_counters.sh: %s\n' "$2" >&2
  exit "$1"
}

while [ $# -gt 0 ]; do
  case $1 in
    --print | --apply | --undo) action=${1#--} ;;
    --everyone) everyone=yes ;;
    --group | --powercap-root | --rules-dir)
      [ -n "${2:-}" ] || fail 2 "$1 needs a value; see --help"
      case $1 in
        --group) group=$2 ;;
        --powercap-root) root=$2 ;;
        --rules-dir) rules=$2 ;;
      esac
      shift
      ;;
    --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" && exit 0 ;;
    *) fail 2 "no option is called '$1'; see --help" ;;
  esac
  shift
done
# It stands in a rule that root runs.
[[ $group =~ ^[a-z_][a-z0-9_-]{0,31}$ ]] || fail 2 "--group: not a name of a group; lower-case letters, digits, _ and - make one"

if [ -n "$everyone" ]; then
  readers=everyone owner=root mode=0444
else
  readers="the group $group" owner=$group mode=0440
fi
rule_file=$rules/90-joulegrid-rapl.rules
rule="SUBSYSTEM==\"powercap\", ACTION==\"add|change\", TEST==\"energy_uj\", \
RUN+=\"/bin/chgrp $owner %S%p/energy_uj\", RUN+=\"/bin/chmod $mode %S%p/energy_uj\""

# Zones, and parts beside or within them; each counter once.
counters() {
  local file
  for file in "$root"/*:*/energy_uj "$root"/*:*/*:*/energy_uj; do
    if [ -f "$file" ]; then readlink -f "$file"; fi
  done | sort -u
}

as_root() { [ "$(id -u)" = 0 ] || fail 3 "--$action changes the system and needs root: sudo $0 --$action"; }

set_permissions() { # GROUP MODE
  local file
  while read -r file; do
    chgrp "$1" "$file"
    chmod "$2" "$file"
  done < <(counters)
}

reload_rules() {
  if [ "$rules" = "$system_rules" ] && command -v udevadm >/dev/null; then udevadm control --reload; fi
}

case $action in
  apply)
    as_root
    [ -n "$(counters)" ] || fail 3 "no energy counter below $root; virtual machines have none, others need the module intel_rapl_msr"
    getent group "$owner" >/dev/null || fail 3 "there is no group $owner; groupadd --system $owner makes it"
    [ -d "$rules" ] || fail 3 "there is no folder $rules; this system does not use udev"
    printf '# joulegrid: scripts/enable_counters.sh --undo removes this\n%s\n' "$rule" >"$rule_file.new"
    mv "$rule_file.new" "$rule_file"
    reload_rules
    set_permissions "$owner" "$mode"
    echo "Readable for $readers now and after a restart: $(counters | wc -l) counters. To take it back: $0 --undo"
    ;;
  undo)
    as_root
    rm -f "$rule_file"
    reload_rules
    set_permissions root 0400
    echo "Readable for root only: $(counters | wc -l) counters; $rule_file is gone."
    ;;
  print)
    cat <<TEXT
To let $readers read the energy counters of processor packages, an administrator does the following.
Nothing has been changed; --apply does steps 1 to 3.

WARNING. Since 2020 only root may read them, because of the attack PLATYPUS (CVE-2020-8694): programs that read RAPL
often can tell what others compute, and have recovered keys and the layout of the kernel in memory. Allow it only on
machines whose users trust each other, to a group rather than everyone, and take it back (--undo) after measuring.

1. A rule for udev, for zones that appear from now on, as at each start: $rule_file

$rule

2. Have udev read it:

udevadm control --reload

3. The counters that are there now:

TEXT
    if [ -n "$(counters)" ]; then
      while read -r file; do
        printf 'chgrp %s %q && chmod %s %q    # now %s\n' "$owner" "$file" "$mode" "$file" "$(stat -c '%A %U:%G' "$file")"
      done < <(counters)
    else
      echo "# none below $root; virtual machines have none, others need: modprobe intel_rapl_msr"
    fi
    if [ -z "$everyone" ]; then
      cat <<TEXT

The group, if there is none yet, and who is in it (from their next login on):

groupadd --system $group
usermod --append --groups $group USER
TEXT
    fi
    cat <<TEXT

Instead of all this, the same energy through perf events (joulegrid's counters perf:…), either for all programs of everyone:

sysctl kernel.perf_event_paranoid=0    # now $(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo unknown)

or for one program, whoever runs it:

setcap cap_perfmon=ep PATH/OF/joulegrid

The warning holds for both. The first also opens other events of the processor and the kernel to everyone.
TEXT
    ;;
esac
