// The thread in which a Prover has large layers read: texts come in, a proven layer goes out in pieces. Nothing of the disk
// is looked at here.

import { parentPort } from 'node:worker_threads';
import type { LayerInput } from './compile-layer.ts';
import { takeApart } from './layer-pieces.ts';
import { proveLayer } from './prove-layer.ts';

parentPort?.on('message', (input: LayerInput) => parentPort?.postMessage(takeApart(proveLayer(input))));
