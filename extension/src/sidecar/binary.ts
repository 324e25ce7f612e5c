// Search for the sidecar's program.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Place where the program was found, in search order. */
export type Source = 'setting' | 'bundled' | 'path';

export interface Binary {
  readonly path: string;
  readonly source: Source;
}

/** A place without a program that can be started. */
export interface FailedLookup {
  readonly source: Source;
  /** Empty if no folder of PATH has the program. */
  readonly path: string;
  readonly why: 'absent' | 'notExecutable' | 'notAbsolute';
}

export interface BinaryLocations {
  /** The setting `trellis.path`; empty if it is not set. */
  readonly setting: string;
  /** Folder of the extension. */
  readonly extension: string;
  /** The variable PATH. */
  readonly pathVariable: string;
  readonly windows: boolean;
}

/** Checks whether a file can be started. */
export type Probe = (path: string) => 'ok' | 'absent' | 'notExecutable';

/** Finds the first program. A setting that names no program is an error: nothing else is tried then. */
export function findBinary(places: BinaryLocations, probe: Probe): Binary | readonly FailedLookup[] {
  if (places.setting !== '') return binaryOfSetting(places.setting, probe);
  const name = places.windows ? 'trellis.exe' : 'trellis';
  const bundled = join(places.extension, 'server-bin', name);
  const found = probe(bundled);
  if (found === 'ok') return { path: bundled, source: 'bundled' };
  const misses: FailedLookup[] = [{ source: 'bundled', path: bundled, why: found }];
  const folders = places.pathVariable.split(delimiter).filter((it) => isAbsolute(it));
  const onPath = folders.map((it) => join(it, name)).find((it) => probe(it) === 'ok');
  if (onPath !== undefined) return { path: onPath, source: 'path' };
  return [...misses, { source: 'path', path: '', why: 'absent' }];
}

function binaryOfSetting(setting: string, probe: Probe): Binary | readonly FailedLookup[] {
  if (!isAbsolute(setting)) return [{ source: 'setting', path: setting, why: 'notAbsolute' }];
  const found = probe(setting);
  if (found === 'ok') return { path: setting, source: 'setting' };
  return [{ source: 'setting', path: setting, why: found }];
}

/** Checks a file on the disk. */
export function probeFile(path: string): ReturnType<Probe> {
  try {
    if (!statSync(path).isFile()) return 'absent';
  } catch {
    return 'absent';
  }
  try {
    accessSync(path, constants.X_OK);
    return 'ok';
  } catch {
    return 'notExecutable';
  }
}
