//! File systems that can't be trusted, by number and by name.

use super::*;

/// Design §5: state on a network file system is refused; each by its `statfs` number.
#[test]
fn remote_file_systems_are_known_by_number() {
    let remote = [
        (0x6969, "nfs"),
        (0xff53_4d42, "cifs"),
        (0xfe53_4d42, "smb2"),
        (0x0102_1997, "9p"),
        (0x00c3_6400, "ceph"),
        (0xffff_ffff_ff53_4d42, "cifs"),
    ];
    for (magic, name) in remote {
        let found = network_file_system(magic, None).map(|found| found.name);
        assert_eq!(found.as_deref(), Some(name));
    }
    // ext4, xfs, btrfs, tmpfs, overlay, zfs, f2fs
    for magic in [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0x0102_1994,
        0x794c_7630,
        0x2fc1_2fc1,
        0xf2f5_2010,
    ] {
        assert_eq!(network_file_system(magic, None), None);
    }
}

/// Design §5: in user space the name decides, and an unknown one counts as remote.
#[test]
fn user_space_file_systems_are_known_by_name() {
    for local in ["fuse.fuse-overlayfs", "fuseblk", "fuse.gocryptfs"] {
        assert_eq!(network_file_system(FUSE, Some(local)), None);
    }
    for remote in [
        Some("fuse.sshfs"),
        Some("fuse.rclone"),
        Some("virtiofs"),
        None,
    ] {
        assert!(network_file_system(FUSE, remote).is_some(), "{remote:?}");
    }
    let table = "36 35 98:0 / /mnt rw - ext4 /dev/root rw\n\
                 40 35 0:52 / /home/x/far rw,nosuid shared:7 - fuse.sshfs host:/ rw\n";
    let device = rustix::fs::makedev(0, 52);
    assert_eq!(mounted_as(table, device), Some("fuse.sshfs"));
    assert_eq!(mounted_as(table, rustix::fs::makedev(0, 53)), None);
}

/// Design §5: the place where tests run is local, and the question is really asked.
#[test]
fn a_local_folder_is_local() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(file_system_of(root.path()).unwrap(), None);
    let own = root.path().join("own");
    create_folder(&own).unwrap();
    check_folder(&own).unwrap();
    assert!(file_system_of(&root.path().join("missing")).is_err());
}
