// Entry point of the extension host: runs mocha with all tests beside this file.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Mocha from 'mocha';
import { limits } from '../lane/patience';

/** Rejects if a test failed. */
export function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'tdd', reporter: 'spec', color: false, timeout: limits.hostTest });
  for (const it of readdirSync(__dirname).filter((it) => it.endsWith('.test.js'))) {
    mocha.addFile(join(__dirname, it));
  }
  return new Promise((resolve, reject) => {
    const runner = mocha.run((failures) => {
      if (runner.total === 0) reject(new Error('there is no test'));
      else if (failures > 0) reject(new Error(`${failures} of ${runner.total} tests failed`));
      else resolve();
    });
  });
}
