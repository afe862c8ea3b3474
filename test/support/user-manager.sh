# A systemd user manager of its own: user-manager.sh BASE. To be run as root by `unshare -m`. Ends with its standard input.
set -eu
base=$1
# A manager starts only where the machine runs systemd, and takes over the control group that it is started in.
mount -t tmpfs none /run/systemd
mkdir -p /run/systemd/system "$base/runtime"
chmod 700 "$base/runtime"
groups=
for hierarchy in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
  [ -e "$hierarchy/cgroup.procs" ] || continue
  group=$hierarchy/rootsd-test-$$
  mkdir "$group"
  groups="$groups $group"
done
(
  for group in $groups; do sh -c "echo \$PPID >$group/cgroup.procs"; done
  exec env XDG_RUNTIME_DIR="$base/runtime" HOME="$base/home" /lib/systemd/systemd --user --log-target=null </dev/null
) &
manager=$!
cat >/dev/null
kill "$manager" 2>/dev/null || :
wait "$manager" || :
for group in $groups; do find "$group" -depth -type d -exec rmdir {} + || :; done
