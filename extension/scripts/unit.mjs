// `npm test [-- PART_OF_A_FILE'S_NAME]`: runs the tests that need no editor.
import { join } from 'node:path';
import { bundle, extension, runTests } from './bundle.mjs';

const folder = await bundle('unit', { alias: { vscode: join(extension, 'test', 'unit', 'vscode.ts') } });
runTests(folder, { named: process.argv[2] });
