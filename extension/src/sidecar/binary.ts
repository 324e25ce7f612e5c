// Which program is the sidecar.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Where the program was found, in the order in which it is looked for. */
export type Source = 'setting' | 'bundled' | 'path';

export interface Binary {
  readonly path: string;
  readonly source: Source;
}

/** One place that was looked at in vain. */
export interface Miss {
  readonly source: Source;
  /** Empty where PATH has no such program. */
  readonly path: string;
  readonly why: 'absent' | 'notExecutable' | 'notAbsolute';
}

export interface Places {
  /** The setting `trellis.path`; empty where it is not set. */
  readonly setting: string;
  /** Folder of the extension. */
  readonly extension: string;
  /** The variable PATH. */
  readonly searched: string;
  readonly windows: boolean;
}

/** Says of a file whether it can be started. */
export type Probe = (path: string) => 'ok' | 'absent' | 'notExecutable';

/**
 * The first program there is. A setting that names none is a mistake to be told, so that nothing else is tried then.
 */
export function findBinary(places: Places, probe: Probe): Binary | readonly Miss[] {
  if (places.setting !== '') return ofSetting(places.setting, probe);
  const name = places.windows ? 'trellis.exe' : 'trellis';
  const bundled = join(places.extension, 'server-bin', name);
  const found = probe(bundled);
  if (found === 'ok') return { path: bundled, source: 'bundled' };
  const misses: Miss[] = [{ source: 'bundled', path: bundled, why: found }];
  const folders = places.searched.split(delimiter).filter((it) => isAbsolute(it));
  const onPath = folders.map((it) => join(it, name)).find((it) => probe(it) === 'ok');
  if (onPath !== undefined) return { path: onPath, source: 'path' };
  return [...misses, { source: 'path', path: '', why: 'absent' }];
}

function ofSetting(setting: string, probe: Probe): Binary | readonly Miss[] {
  if (!isAbsolute(setting)) return [{ source: 'setting', path: setting, why: 'notAbsolute' }];
  const found = probe(setting);
  if (found === 'ok') return { path: setting, source: 'setting' };
  return [{ source: 'setting', path: setting, why: found }];
}

/** Looks at the disk. */
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
