//! How much memory this process may use.

use std::path::Path;
use std::sync::OnceLock;

/// Assumed if the system does not report any limit.
pub(super) const DEFAULT_BYTES: u64 = 16 << 30;

/// The minimum of physical memory, cgroup limit and address space limit.
pub(super) fn available() -> u64 {
    // Cached: reading these files takes longer than decoding a small array.
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let groups = read("/proc/self/cgroup");
        let known = [
            machine(&read("/proc/meminfo")),
            address_space(&read("/proc/self/limits")),
            control_group(&groups, Path::new("/sys/fs/cgroup")),
        ];
        known.into_iter().flatten().min().unwrap_or(DEFAULT_BYTES)
    })
}

/// `MemTotal` of `/proc/meminfo`, in bytes.
fn machine(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// The soft limit on address space, from `/proc/self/limits`.
fn address_space(limits: &str) -> Option<u64> {
    let rest = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max address space"))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The minimum over the process's cgroup and its ancestors, version 2 or 1.
fn control_group(groups: &str, root: &Path) -> Option<u64> {
    let limits = groups.lines().flat_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (
            fields.next().unwrap_or_default(),
            fields.next().unwrap_or_default(),
        );
        let (root, file) = match controllers {
            "" => (root.to_path_buf(), "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => return Vec::new(),
        };
        // Inside a container the path may be the host's; then the root has the limit.
        let group = Path::new(path.trim_start_matches('/'));
        let limit = |group: &Path| {
            let text = std::fs::read_to_string(root.join(group).join(file)).ok()?;
            text.trim().parse::<u64>().ok()
        };
        group.ancestors().filter_map(limit).collect()
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_files_are_parsed() {
        assert_eq!(
            machine("MemTotal:  2048 kB\nMemFree: 1 kB\n"),
            Some(2 << 20)
        );
        assert_eq!(machine(""), None);
        let limits = |value: &str| {
            format!(
                "Limit  Soft Limit  Hard Limit  Units\nMax address space  {value}  unlimited  bytes\n"
            )
        };
        assert_eq!(address_space(&limits("1024000000")), Some(1_024_000_000));
        assert_eq!(address_space(&limits("unlimited")), None);
    }

    #[test]
    fn the_lowest_cgroup_limit_applies() {
        let folder = std::env::temp_dir().join(format!("ebz-groups-{}", std::process::id()));
        let write = |group: &str, file: &str, text: &str| {
            std::fs::create_dir_all(folder.join(group)).unwrap();
            std::fs::write(folder.join(group).join(file), text).unwrap();
        };
        write("a/b", "memory.max", "max\n");
        write("a", "memory.max", "5000\n");
        write("memory/job", "memory.limit_in_bytes", "4000\n");
        assert_eq!(control_group("0::/a/b\n", &folder), Some(5000));
        assert_eq!(
            control_group("7:cpu,memory:/job\n0::/a/b", &folder),
            Some(4000)
        );
        assert_eq!(control_group("7:cpu:/job\n", &folder), None);
        assert_eq!(control_group("0::/elsewhere\n", &folder), None);
        write("", "memory.max", "3000\n");
        assert_eq!(control_group("0::/elsewhere\n", &folder), Some(3000));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
