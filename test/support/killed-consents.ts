// A program that keeps one grant, then two: killed-consents.ts DIRECTORY
import { join } from 'node:path';
import { openConsentStore } from '../../src/state/consents.ts';
import { grantOf, keptOf } from './consents.ts';

const owner = { uid: process.getuid?.() ?? -1 };
const path = join(process.argv[2] ?? '', 'consents.json');
const store = await openConsentStore({ path, owner, log: () => {} });
await store.save(keptOf(grantOf()), { isNarrower: false });
await store.save(keptOf(grantOf(), grantOf({ id: 'g2' })), { isNarrower: false });
await store.close();
