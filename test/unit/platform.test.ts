/**
 * Differences between systems, with the answers that their documents record: proc(5) of Linux, ps(1), sysctl(8) and mount(8)
 * of macOS and the BSDs, and the ps of POSIX.
 */
import { userInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import { type Machine, platformOf } from '../../src/infrastructure/platform/platform.ts';
import { ENDED } from '../support/ended-process.ts';

const NOW = Date.parse('2026-11-23T06:15:00Z');

/** A machine that gives these answers to programs, by their command line, and has these files. */
function machine({
  says = {},
  files = {},
}: {
  says?: Record<string, string>;
  files?: Record<string, string>;
}): Machine {
  return {
    read: (path) => files[path] ?? null,
    run: (program, args) => says[[program, ...args].join(' ')] ?? null,
    now: () => NOW,
    uptime_ms: () => 3_600_000,
  };
}

const HOME = { HOME: '/home/ada' };

describe('Linux', () => {
  const files = {
    '/proc/42/stat': '42 (a) b (c)) S 7 42 42 34816 42 0 0 0 0 0 1 2 0 0 20 0 1 0 12345 0 0',
    '/proc/42/comm': 'a) b (c)\n',
    '/proc/42/environ': 'HOME=/home/ada\0EMPTY=\0NAME=J\u00c3\u00bcrgen=x\0junk\0',
    '/proc/uptime': '200.00 100.00\n',
    '/proc/sys/kernel/random/boot_id': '0b5a\n',
    '/proc/self/mountinfo': [
      '22 1 254:1 / / rw - ext4 /dev/vda1 rw',
      '30 22 0:50 / /home/ada/far\\040away rw - fuse.sshfs ada@far: rw',
      '31 22 0:51 / /home/ada/far\\040away/near rw - fuse.gocryptfs near rw',
      '32 22 0:52 / /shared rw - virtiofs shared rw',
      '33 22 0:53 / /Users rw - fuse.grpcfuse grpcfuse rw',
      '34 22 0:54 / /workspaces rw - fakeowner /run/host_mark/Users rw',
      '35 22 0:55 / /mnt/hgfs rw - fuse.vmhgfs-fuse vmhgfs-fuse rw',
      '36 22 254:1 /state/hive.db /home/ada/a\\134b/hive.db rw - ext4 /dev/vda1 rw',
    ].join('\n'),
  };
  const linux = platformOf('linux', machine({ files }));

  test('the parent, name, start and variables of a process come from /proc, whatever its name contains', () => {
    expect(linux.parentOf(42)).toBe(7);
    expect(linux.nameOf(42)).toBe('a) b (c)');
    expect(linux.startedAt(42)).toBe('0b5a:12345');
    expect(linux.ageMs(42)).toBe(200_000 - 123_450);
    expect(linux.environment(42)).toEqual({ HOME: '/home/ada', EMPTY: '', NAME: 'Jürgen=x' });
  });

  test('of a process that is gone nothing is known', () => {
    expect([linux.parentOf(43), linux.nameOf(43), linux.startedAt(43), linux.ageMs(43)]).toEqual([
      null,
      '',
      null,
      null,
    ]);
    expect(linux.environment(43)).toEqual({});
  });

  const FUSE = 0x65735546;
  test.each([
    ['ext4', 0xef53, '/home', null],
    ['NFS', 0x6969, '/home', 'NFS'],
    ['SMB, whose number is negative in some versions of Node', 0xfe534d42 | 0, '/home', 'SMB2'],
    ['sshfs', FUSE, '/home/ada/far away/hive', 'fuse.sshfs'],
    ['a local FUSE inside sshfs', FUSE, '/home/ada/far away/near', null],
    ['a neighbour with a longer name', FUSE, '/home/ada/far awayer', null],
    ['virtiofs', FUSE, '/shared/hive', 'virtiofs'],
    ['grpcfuse', FUSE, '/Users/ada', 'fuse.grpcfuse'],
    ['fakeowner', FUSE, '/workspaces/hive', 'fakeowner'],
    ['vmhgfs over FUSE', FUSE, '/mnt/hgfs/share', 'fuse.vmhgfs-fuse'],
    ['vmhgfs', 0xbacbacbc | 0, '/mnt/hgfs', 'vmhgfs'],
    ['vboxsf', 0x786f4256, '/media/sf_hive', 'vboxsf'],
    ['prl_fs', 0x7c7c6673, '/media/psf', 'prl_fs'],
  ])('%s is recognized by its type and mount', (_what, type, folder, network) => {
    expect(linux.networkFileSystem(folder, type)).toBe(network);
  });

  test('a file that is mounted alone is a mount point, and its folder and its neighbours are none', () => {
    const paths = ['/home/ada/a\\b/hive.db', '/home/ada/a\\b', '/home/ada/a\\b/hive.db-wal'];
    expect(paths.map((path) => linux.isMountPoint(path))).toEqual([true, false, false]);
  });

  test.each([
    [HOME, '/home/ada/.local/state/hive', '/home/ada/.config/hive'],
    [{ ...HOME, XDG_STATE_HOME: '/s', XDG_CONFIG_HOME: '/c' }, '/s/hive', '/c/hive'],
    [
      { ...HOME, XDG_STATE_HOME: 's', XDG_CONFIG_HOME: '' },
      '/home/ada/.local/state/hive',
      '/home/ada/.config/hive',
    ],
  ])('files are where XDG says, ignoring relative paths: %j', (env, state, config) => {
    expect([linux.stateDirectory(env), linux.configDirectory(env)]).toEqual([state, config]);
  });

  test.each([[''], ['ada']])(
    'a HOME that would be another folder for each process is not taken: %j',
    (home) => {
      const { homedir } = userInfo();
      expect(linux.stateDirectory({ HOME: home })).toBe(`${homedir}/.local/state/hive`);
      expect(linux.configDirectory({ HOME: home })).toBe(`${homedir}/.config/hive`);
    },
  );
});

describe('Darwin', () => {
  const says = {
    'ps -o ppid=,lstart=,comm= -p 42':
      '    1 Mon Nov  9 08:05:01 2026     /Applications/Emacs App.app/Contents/MacOS/Emacs\n',
    'ps -o ppid=,lstart=,comm= -p 43': '  700 Mon Nov 23 06:13:29 2026     -zsh\n',
    'sysctl -n kern.boottime': '{ sec = 1795413600, usec = 514326 } Mon Nov 23 06:00:00 2026\n',
    mount: [
      '/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)',
      'devfs on /dev (devfs, local, nobrowse)',
      '/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse, protect)',
      'map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)',
      '//ada@far._smb._tcp.local/share on /Volumes/share (smbfs, nodev, nosuid, mounted by ada)',
      'far:/export (old) on /Volumes/export (nfs, nodev, nosuid)',
      'ada@far: on /Users/ada/on far (macfuse, nodev, nosuid, synchronous, mounted by ada)',
      '/dev/disk4s1 on /Volumes/Stick (msdos, local, nodev, nosuid, noowners)',
    ].join('\n'),
  };
  const darwin = platformOf('darwin', machine({ says }));

  test('the parent, name and start of a process come from ps', () => {
    expect([darwin.parentOf(42), darwin.nameOf(42)]).toEqual([1, 'Emacs']);
    expect([darwin.parentOf(43), darwin.nameOf(43)]).toEqual([700, 'zsh']);
    expect(darwin.startedAt(42)).toBe('Mon Nov  9 08:05:01 2026');
    expect(darwin.ageMs(42)).toBe(NOW - Date.parse('2026-11-09T08:05:01Z'));
  });

  test('of a process that is gone nothing is known', () => {
    expect([darwin.parentOf(9), darwin.nameOf(9), darwin.startedAt(9), darwin.ageMs(9)]).toEqual([
      null,
      '',
      null,
      null,
    ]);
  });

  test('the boot is identified by its second', () => {
    expect(darwin.boot()).toBe('at-1795413600');
    expect(platformOf('darwin', machine({})).boot()).toBe(`at-${(NOW - 3_600_000) / 10_000}`);
  });

  test.each([
    ['/Users/ada/Library', null],
    ['/Volumes/Stick/hive', null],
    ['/Volumes/share/hive', 'smbfs'],
    ['/Volumes/shared', null],
    ['/Volumes/export', 'nfs'],
    ['/Users/ada/on far/hive', 'macfuse'],
  ])('a file system that is not marked as local is a network file system: %s', (folder, network) => {
    expect(darwin.networkFileSystem(folder, 0)).toBe(network);
  });

  test('files are below Library, whatever XDG says, and the notification centre shows popups', () => {
    const env = { HOME: '/Users/ada', XDG_STATE_HOME: '/s', XDG_CONFIG_HOME: '/c' };
    const folder = '/Users/ada/Library/Application Support/hive';
    expect([darwin.stateDirectory(env), darwin.configDirectory(env)]).toEqual([folder, folder]);
    expect(darwin.popups).toBe('notification-centre');
  });
});

describe('another Unix', () => {
  const POSIX = 'ps -o ppid=,etime=,comm= -p 42';
  const withAnswer = (says: Record<string, string>) => platformOf('sunos', machine({ says }));

  test.each([
    ['    1       05:09 node', 309],
    ['    1    01:05:09 node', 3_909],
    ['    1 12-01:05:09 /usr/bin/node', 1_040_709],
  ])(
    'with the ps of POSIX, which has no lstart, the start is computed from the elapsed time: %s',
    (line, elapsed_s) => {
      const unix = withAnswer({ [POSIX]: `${line}\n` });
      expect([unix.parentOf(42), unix.nameOf(42)]).toEqual([1, 'node']);
      expect(unix.ageMs(42)).toBe(elapsed_s * 1_000);
      // Rounded differently at each look, so it identifies no process.
      expect(unix.startedAt(42)).toBe('unknown');
    },
  );

  test('process 1 has no parent', () => {
    expect(withAnswer({ [POSIX]: '    0 12-01:05:09 init\n' }).parentOf(42)).toBeNull();
  });

  test.each([
    ['{ sec = 1795413600, usec = 0 } Mon Nov 23 06:00:00 2026\n', 'at-1795413600'],
    ['Mon Nov 23 06:00:00 2026\n', 'at-Mon Nov 23 06:00:00 2026'],
    ['1795413600\n', 'at-1795413600'],
  ])('the boot is what sysctl says: %j', (said, boot) => {
    expect(withAnswer({ 'sysctl -n kern.boottime': said }).boot()).toBe(boot);
  });

  test.each([
    ['/dev/sd0a on / type ffs (local)', null],
    ['far:/export on / type nfs (nodev, nosuid, v3, udp)', 'nfs'],
    ['/dev/ada0p2 on / (ufs, local, journaled soft-updates)', null],
    ['/ on rpool/ROOT/omnios read/write/setuid/devices', null],
  ])('the mounts are read as each BSD prints them: %s', (line, network) => {
    expect(withAnswer({ mount: line }).networkFileSystem('/var/hive', 0)).toBe(network);
  });

  test('files are where XDG says, and popups are shown over D-Bus', () => {
    const unix = platformOf('freebsd', machine({}));
    expect(unix.stateDirectory(HOME)).toBe('/home/ada/.local/state/hive');
    expect(unix.popups).toBe('session-bus');
  });
});

test('this machine gives the same answers by ps as by /proc', () => {
  const [here, other] = [platformOf('linux'), platformOf('freebsd')];
  const all = (platform: typeof here) => {
    const { pid } = process;
    return {
      parent: platform.parentOf(pid),
      name_of_parent: platform.nameOf(process.ppid),
      gone: platform.startedAt(ENDED),
    };
  };
  expect(all(other)).toEqual(all(here));
  const between = Math.abs((other.ageMs(process.pid) ?? 0) - (here.ageMs(process.pid) ?? 0));
  expect(between).toBeLessThan(3_000);
});
