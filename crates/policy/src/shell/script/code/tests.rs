//! Pieces of code in several languages.

use super::{Does, Language, Names, read};

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn check(code: &str) -> Vec<String> {
    check_as(code, Language::Hash)
}

fn check_as(code: &str, language: Language) -> Vec<String> {
    let (removes, same) = (
        words("rmtree rmSync rm_rf"),
        words("expanduser Path resolve"),
    );
    let (runs, homes) = (words("system run spawn"), words("homedir HOME home"));
    let names = Names {
        removes: &removes,
        same: &same,
        runs: &runs,
        evaluates: &words("eval"),
        again: &words("sync"),
        homes: &homes,
    };
    let shown = |does: Does| match does {
        Does::Removes(path) => format!("removes {path}"),
        Does::Runs(text) => format!("runs {text}"),
        Does::Starts(words) => format!("starts {}", words.join("|")),
    };
    read(code, language, names).into_iter().map(shown).collect()
}

#[test]
fn what_is_removed() {
    for (code, path) in [
        ("import shutil; shutil.rmtree('/')", "/"),
        ("require('fs').rmSync(\"/\",{recursive:true})", "/"),
        ("shutil.rmtree(os.path.expanduser('~'), True)", "~"),
        ("rmtree(Path('/etc').resolve())", "/etc"),
        ("Path('/').rmtree()", "/"),
        ("FileUtils.rm_rf '/'", "/"),
        ("FileUtils.rm_rf ['a', '/']", "/"),
        ("fs.rmSync(os.homedir(), o)", "~"),
        ("rmtree(os.environ['HOME'])", "~"),
        ("rmtree(r'''/''')", "/"),
        ("rmtree(path='/')", "/"),
    ] {
        let told = check(code);
        assert!(
            told.contains(&format!("removes {path}")),
            "{code}: {told:?}"
        );
    }
    for code in [
        "print('/')",
        "rmtree('/' + name)",
        "rmtree(name + '/')",
        "rmtree(join('/', 'tmp', 'x'))",
        "rmSync(os.homedir() + '/x')",
        "rmtree(Path.home() / 'x')",
        "open('/').read()",
        "# rmtree('/')",
        "x = '/'; rmtree(x)",
    ] {
        assert_eq!(check(code), Vec::<String>::new(), "{code}");
    }
}

#[test]
fn what_is_run() {
    for (code, told) in [
        ("os.system('rm -rf /')", "runs rm -rf /"),
        ("system \"rm -rf \\\"/\\\"\"", "runs rm -rf \"/\""),
        ("subprocess.run(['rm', '-rf', '/'])", "starts rm|-rf|/"),
        ("spawn('rm', ['-rf', '/'])", "starts rm|-rf|/"),
        ("x = `rm -rf /`", "runs rm -rf /"),
    ] {
        assert!(
            check(code).contains(&told.to_owned()),
            "{code}: {:?}",
            check(code)
        );
    }
    assert_eq!(check("print('rm -rf /')"), Vec::<String>::new());
}
