//! Copies that are known, and files that are none.

use std::fs;
use std::path::Path;

use super::*;

const BUSYBOX: &str = "/usr/bin/busybox";

/// A file of 200 pages, all of them different.
fn shell() -> Vec<u8> {
    (0..200_u32 * 1024).flat_map(|word| word.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

/// What is told of an executed file: whether it is preserved, and the event.
fn judge(likeness: &mut Likeness, path: &Path) -> (bool, Exec) {
    let (image, exec) = image(likeness, path);
    (image == Some("preserved"), exec)
}

fn image(likeness: &mut Likeness, path: &Path) -> (Option<&'static str>, Exec) {
    let ino = fs::metadata(path).unwrap().ino();
    let path = fs::canonicalize(path).unwrap();
    let mut exec = Exec { path: Some(path.as_os_str().as_bytes().into()), ino: Some(ino), ..Exec::default() };
    (likeness.tell(&Actor::default(), &mut exec), exec)
}

#[test]
fn a_copy_is_known_by_its_content_and_nothing_else_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("real"), "shell").unwrap();
    fs::write(path("copy"), "shell").unwrap();
    fs::write(path("like"), "Shell").unwrap();
    fs::write(path("other"), "something else").unwrap();
    let mut likeness = Likeness::of(&[path("real")], &[]).unwrap();
    let (is_preserved, exec) = judge(&mut likeness, &path("copy"));
    assert!(is_preserved);
    let expected = digest(File::open(path("real")).unwrap(), 5).unwrap();
    assert_eq!((expected.len(), exec.sha256), (64, Some(expected.clone())));
    let real = fs::canonicalize(path("real")).unwrap();
    assert_eq!(exec.same_as.unwrap().as_bytes(), real.as_os_str().as_bytes());
    for other in ["like", "other"] {
        let (is_preserved, exec) = judge(&mut likeness, &path(other));
        assert!(!is_preserved && exec.same_as.is_none() && exec.sha256.is_none(), "{other}: {exec:?}");
    }
    fs::write(path("copy"), "SHELL").unwrap();
    fs::write(path("like"), "shell").unwrap();
    assert_eq!(judge(&mut likeness, &path("like")).1.sha256, Some(expected), "what it holds now counts");
}

#[test]
fn a_copy_that_was_changed_in_a_few_places_is_known_by_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let real = shell();
    fs::write(path("real"), &real).unwrap();
    let mut patched = real.clone();
    (patched[10], patched[100_000]) = (!patched[10], !patched[100_000]);
    patched.extend_from_slice(b"and more");
    fs::write(path("patched"), &patched).unwrap();
    let half: Vec<u8> = real.iter().enumerate().map(|(at, byte)| byte ^ u8::from(at % 6000 == 0)).collect();
    fs::write(path("rewritten"), half).unwrap();
    fs::write(path("empty"), vec![0; real.len()]).unwrap();
    let mut likeness = Likeness::of(&[path("real")], &[]).unwrap();
    let (is_preserved, exec) = judge(&mut likeness, &path("patched"));
    assert!(is_preserved && exec.same_as.is_some(), "{exec:?}");
    assert_ne!(exec.sha256, Some(digest(File::open(path("real")).unwrap(), real.len() as u64).unwrap()));
    for other in ["rewritten", "empty"] {
        assert!(!judge(&mut likeness, &path(other)).0, "{other}");
    }
}

#[test]
fn a_shell_of_the_machine_and_its_loader_are_known_under_another_name_and_not_under_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let mut likeness = Likeness::of(&[], &[]).unwrap();
    let own = Head::of(&File::open("/bin/sh").unwrap());
    let loader = PathBuf::from(String::from_utf8(own.interpreter.unwrap()).unwrap());
    for (name, path) in [("tool", Path::new("/bin/sh")), ("ls", Path::new(BUSYBOX)), ("x", &loader)] {
        let copy = dir.path().join(name);
        fs::copy(path, &copy).unwrap();
        let (is_preserved, exec) = judge(&mut likeness, &copy);
        let known = fs::canonicalize(path).unwrap();
        assert_eq!(exec.same_as.as_ref().map(ByteString::as_bytes), Some(known.as_os_str().as_bytes()), "{exec:?}");
        assert!(!is_preserved && exec.sha256.is_some() && exec.build_id.is_some(), "{exec:?}");
        let (_, exec) = judge(&mut likeness, path);
        assert_eq!((exec.same_as, exec.sha256), (None, None), "{name}");
    }
}

#[test]
fn another_file_with_the_same_build_id_is_the_same_program() {
    let dir = tempfile::tempdir().unwrap();
    let padded = dir.path().join("padded");
    let mut bytes = fs::read(BUSYBOX).unwrap();
    // Twice as long, so that the build id alone says so.
    bytes.resize(bytes.len() * 2, 1);
    fs::write(&padded, bytes).unwrap();
    let (_, exec) = judge(&mut Likeness::of(&[], &[]).unwrap(), &padded);
    assert_eq!(exec.same_as.as_ref().map(ByteString::as_bytes), Some(BUSYBOX.as_bytes()));
    assert_eq!((exec.sha256, exec.build_id.map(|id| id.len())), (None, Some(40)));
}

#[test]
fn what_is_nash_is_no_shell_of_the_machine() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("copy");
    fs::copy("/bin/sh", &copy).unwrap();
    let mut likeness = Likeness::of(&[], &["/bin/sh".into()]).unwrap();
    assert_eq!(judge(&mut likeness, &copy).1.same_as, None);
    // A copy of it is nash under another name.
    assert_eq!(image(&mut likeness, &copy).0, Some("nash"));
    assert_eq!(image(&mut likeness, Path::new("/bin/sh")).0, None, "the kernel knows it by itself");
}

#[test]
fn headers_that_lie_say_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let mut bytes = fs::read(BUSYBOX).unwrap();
    // Its table of segments begins far behind its end, and has as many entries as it may.
    bytes[32..40].fill(0xff);
    bytes[56..58].fill(0xff);
    fs::write(&path, &bytes).unwrap();
    assert_eq!(Head::of(&File::open(&path).unwrap()), Head::default());
    fs::write(&path, b"\x7fELF\x02").unwrap();
    assert_eq!(Head::of(&File::open(&path).unwrap()), Head::default());
}

#[test]
fn a_preserved_shell_that_can_not_be_read_is_an_error() {
    assert!(Likeness::of(&["/no/such/shell".into()], &[]).is_err());
}
