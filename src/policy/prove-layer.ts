import { runTests, type TestResult } from '../core/run-tests.ts';
import { type CompiledLayer, compileLayer, type LayerInput } from './compile-layer.ts';

/** A compiled layer that has run its tests. */
export interface ProvenLayer extends CompiledLayer {
  /** How each test of the layer came out; none where there is no policy. */
  readonly results: readonly TestResult[];
}

/** proveLayer(), here and now or elsewhere. */
export type Prove = (input: LayerInput) => ProvenLayer | Promise<ProvenLayer>;

/** Compiles a layer as a whole and runs its tests under the layers above. Pure; what goes in and out can be cloned. */
export function proveLayer(input: LayerInput): ProvenLayer {
  const compiled = compileLayer(input);
  const { policy } = compiled;
  return { ...compiled, results: policy === null ? [] : runTests([...input.upper, policy], policy) };
}
