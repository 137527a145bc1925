//! A place to attack from: a workspace, what must not be reached from it, and someone outside.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{fs, thread};

use serde_json::{Value, json};

/// An ordinary user without a name; no file of the machine belongs to it.
const ORDINARY: u32 = 61_234;

/// Who launches the command.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Who {
    Root,
    Ordinary,
}

/// Everyone that this test run can be.
pub(crate) fn everyone() -> Vec<Who> {
    if rustix::process::geteuid().is_root() {
        vec![Who::Root, Who::Ordinary]
    } else {
        println!("not run as root: only an ordinary user is tested");
        vec![Who::Ordinary]
    }
}

/// The place. Everything in it belongs to whoever attacks.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    who: Who,
    victim: Option<Child>,
    pub(crate) secret: String,
    /// Words before the launcher's own: programs that change what it finds.
    pub(crate) around: Vec<String>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(mut victim) = self.victim.take() {
            victim.kill().ok();
            victim.wait().ok();
        }
        fs::remove_file(self.shared()).ok();
        // The kernel leaves a folder that only root may enter.
        let scratch = self.folder.path().join("scratch");
        for path in [scratch.join("work").join("work"), scratch.join("upper")] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).ok();
        }
    }
}

impl Stage {
    /// Sets it up outside of `/tmp`, which a command sees its own of.
    pub(crate) fn new(who: Who) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("tagout-stage-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let secret = format!(
            "secret-{}",
            folder.path().file_name().unwrap().to_string_lossy()
        );
        let mut stage = Self {
            folder,
            who,
            victim: None,
            secret,
            around: Vec::new(),
        };
        stage.fill();
        stage.own();
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file in the machine's shared memory.
    fn shared(&self) -> PathBuf {
        Path::new("/dev/shm").join(&self.secret)
    }

    fn fill(&self) {
        for name in [
            "workspace/src",
            "outside",
            "home",
            "state/layers",
            "scratch/upper",
            "scratch/work",
            "scratch/tmp",
            "bin",
        ] {
            fs::create_dir_all(self.path(name)).unwrap();
        }
        for name in [
            "outside/file",
            "outside/other",
            "outside/spare-unlink",
            "outside/spare-rename",
            "outside/inherited",
            "workspace/src/main.rs",
            "workspace/README.md",
        ] {
            fs::write(self.path(name), vec![b'.'; 8192]).unwrap();
        }
        for name in ["outside/file", "outside/other"] {
            let flags = rustix::fs::XattrFlags::empty();
            rustix::fs::setxattr(self.path(name), "user.kept", b"kept", flags).unwrap();
        }
        fs::write(self.path("state/secret"), &self.secret).unwrap();
        fs::write(self.path("state/layers/one"), &self.secret).unwrap();
        for name in CREDENTIALS {
            let path = self.path("home").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &self.secret).unwrap();
        }
        for name in ["lane", "escape", "greedy", "confine"] {
            fs::copy(example(name), self.path("bin").join(name)).unwrap();
        }
    }

    /// Gives everything to the attacker.
    fn own(&mut self) {
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.folder.path(), open).unwrap();
        if self.changes_user() {
            each(self.folder.path(), &mut |path| {
                chown(path, Some(ORDINARY), Some(ORDINARY)).unwrap();
            });
        }
    }

    /// Gives a folder that a test made to the attacker.
    pub(crate) fn give(&self, folder: &Path) {
        if self.changes_user() {
            each(folder, &mut |path| {
                lchown(path, Some(ORDINARY), Some(ORDINARY)).unwrap();
            });
        }
    }

    /// Makes a folder that belongs to the attacker.
    pub(crate) fn make(&self, path: &Path) {
        fs::create_dir_all(path).unwrap();
        if self.changes_user() {
            chown(path, Some(ORDINARY), Some(ORDINARY)).unwrap();
        }
    }

    fn changes_user(&self) -> bool {
        self.who == Who::Ordinary && rustix::process::geteuid().is_root()
    }

    /// A command as the attacker.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path("workspace"));
        if self.changes_user() {
            command.uid(ORDINARY).gid(ORDINARY);
        }
        command
    }

    /// Puts someone outside to be attacked and tells the attempts where; the port is listened on.
    pub(crate) fn populate(&mut self) {
        let victim = self
            .command("sleep")
            .arg("600")
            .env("SECRET", &self.secret)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let port = listen(&self.path("outside/socket"), &self.secret);
        if self.changes_user() {
            for name in ["outside/socket", "outside/socket.datagram"] {
                chown(self.path(name), Some(ORDINARY), Some(ORDINARY)).unwrap();
            }
        }
        let setting = json!({
            "outside": self.path("outside"),
            "workspace": self.path("workspace"),
            "home": self.path("home"),
            "state": self.path("state"),
            "victim": victim.id(),
            "secret": self.secret,
            "port": port,
            "socket": self.path("outside/socket"),
            "abstract_name": self.secret,
            "shm_key": SHM_KEY,
            "inherited": [8, 9],
            "variable": "TAGOUT_ESCAPE_VARIABLE",
        });
        fs::write(self.path("workspace/setting.json"), setting.to_string()).unwrap();
        self.victim = Some(victim);
        fs::write(self.shared(), &self.secret).unwrap();
        segment(SHM_KEY);
    }

    /// An order for a command in a lane, with nothing but the walls.
    pub(crate) fn order(&self, lane: &str, argv: &[&str]) -> Value {
        json!({
            "scratch": self.path("scratch"),
            "lane": lane,
            "workspace": self.path("workspace"),
            "cwd": self.path("workspace"),
            "argv": argv.iter().map(|word| json!({ "Unix": word.as_bytes() })).collect::<Vec<_>>(),
            "env": [["PATH", "/usr/local/bin:/usr/bin:/bin"], ["HOME", self.path("home")]],
            "limits": {},
            "network": "off",
            "layers": {
                "upper": self.path("scratch/upper"),
                "work": self.path("scratch/work"),
                "lower": [],
                "caches": [],
                "tmp": self.path("scratch/tmp"),
            },
            "writable": [self.path("workspace")],
            "hidden": [self.path("state"), self.path("scratch")],
            "home": self.path("home"),
            "read_only_inside": [],
            "accept": [],
            "artifact": self.path("scratch/artifact"),
        })
    }

    /// Starts an order as the attacker, from a shell that has two descriptors open and variables
    /// set that must not come through.
    pub(crate) fn start(&self, without: &[&str], order: &Value) -> Child {
        let file = self.path("scratch/order.json");
        fs::write(&file, order.to_string()).unwrap();
        fs::remove_file(self.path("scratch/artifact")).ok();
        let mut command = self.command("sh");
        command
            .arg("-c")
            .arg("exec 8>>\"$1\" 9<\"$2\"; shift 2; exec \"$@\"")
            .arg("sh")
            .arg(self.path("outside/inherited"))
            .arg(self.path("outside"))
            .args(&self.around)
            .arg(self.path("bin/lane"));
        for what in without {
            command.args(["--without", what]);
        }
        command
            .arg(&file)
            .env("TAGOUT_ESCAPE_VARIABLE", &self.secret)
            .env("LD_AUDIT", "")
            .env("SSH_AUTH_SOCK", self.path("outside/socket"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs an order to its end.
    pub(crate) fn run(&self, without: &[&str], order: &Value) -> Value {
        let output = self.start(without, order).wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str(&text).unwrap_or_else(|error| {
            let errors = String::from_utf8_lossy(&output.stderr);
            panic!("{error}: {text} {errors}")
        })
    }

    /// Processes of the machine that have this stage's secret on their command line.
    pub(crate) fn running(&self) -> Vec<u32> {
        let all = fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| {
                let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&line).contains(&self.secret)
            })
            .collect()
    }

    /// What the command printed.
    pub(crate) fn printed(&self) -> String {
        let bytes = fs::read(self.path("scratch/artifact")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Everything that must stay as it is: where, what, whose, when, and what is in it.
    pub(crate) fn fingerprint(&self, folders: &[&str]) -> BTreeMap<PathBuf, String> {
        let mut all = BTreeMap::new();
        for name in folders {
            each(&self.path(name), &mut |path| {
                let stat = fs::symlink_metadata(path).unwrap();
                let content = if stat.is_file() {
                    format!("{:?}", fs::read(path).map(|bytes| bytes.len()))
                        + &digest(&fs::read(path).unwrap_or_default())
                } else {
                    format!("{:?}", fs::read_link(path).ok())
                };
                let mut names = vec![0; 1024];
                let attributes = rustix::fs::llistxattr(path, &mut names).unwrap_or(0);
                names.truncate(attributes);
                // Sockets are touched by those who talk to them; all else has its times compared.
                let when = (stat.mtime(), stat.mtime_nsec());
                let line = format!(
                    "{:o} {}:{} {} {when:?} {names:?} {content}",
                    stat.mode(),
                    stat.uid(),
                    stat.gid(),
                    stat.ino(),
                );
                all.insert(path.to_path_buf(), line);
            });
        }
        all
    }
}

const CREDENTIALS: &[&str] = &[
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".azure/token",
    ".config/gcloud/credentials.db",
    ".gnupg/key",
    ".kube/config",
    ".docker/config.json",
    ".config/gh/hosts.yml",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials.toml",
    ".local/share/keyrings/login.keyring",
    ".mozilla/firefox/profile/logins.json",
];

fn digest(bytes: &[u8]) -> String {
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{sum:016x}")
}

/// Visits a folder and all that is below it.
fn each(path: &Path, visit: &mut dyn FnMut(&Path)) {
    visit(path);
    if fs::symlink_metadata(path).is_ok_and(|stat| stat.is_dir()) {
        for entry in fs::read_dir(path).unwrap() {
            each(&entry.unwrap().path(), visit);
        }
    }
}

/// A program of this crate's examples, which the test run has built.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.ancestors().nth(2).unwrap();
    built.join("examples").join(name)
}

/// Greets over TCP of both versions, answers over UDP of both, greets on a socket with a path and
/// on an abstract one. The threads end with the test run.
fn listen(socket: &Path, abstract_name: &str) -> u16 {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let greet = |listener: TcpListener| {
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                stream.write_all(b"hello").ok();
            }
        });
    };
    greet(tcp);
    if let Ok(six) = TcpListener::bind(("::1", port)) {
        greet(six);
    }
    for host in ["127.0.0.1", "::1"] {
        let Ok(udp) = UdpSocket::bind((host, port)) else {
            continue;
        };
        thread::spawn(move || {
            let mut heard = [0; 16];
            while let Ok((_, from)) = udp.recv_from(&mut heard) {
                udp.send_to(b"hello", from).ok();
            }
        });
    }
    let name = SocketAddr::from_abstract_name(abstract_name.as_bytes()).unwrap();
    let listeners = [
        UnixListener::bind(socket).unwrap(),
        UnixListener::bind_addr(&name).unwrap(),
    ];
    for listener in listeners {
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                stream.write_all(b"hello").ok();
                let mut rest = [0; 1];
                stream.read_exact(&mut rest).ok();
            }
        });
    }
    let datagram = UnixDatagram::bind(socket.with_extension("datagram")).unwrap();
    thread::spawn(move || {
        let mut heard = [0; 16];
        while datagram.recv(&mut heard).is_ok() {}
    });
    port
}

/// The number of a System V segment that the tests make once for everyone.
const SHM_KEY: i32 = 0x7461_676f;

/// Makes a segment of the machine's shared memory that everyone may use.
#[allow(unsafe_code, reason = "System V segments have no safe interface")]
fn segment(key: i32) {
    // SAFETY: takes plain numbers.
    let made = unsafe { libc::shmget(key, 4096, libc::IPC_CREAT | 0o666) };
    assert!(made >= 0, "{}", std::io::Error::last_os_error());
}
