// `rootsd run` as a program, from its source.
import { runMain } from '../../src/run/main.ts';

await runMain(process.argv.slice(2), { binRootsd: process.env.TEST_BIN_ROOTSD ?? '' });
