import { MODERN, testScenarios } from './conformance-release.ts';

testScenarios(MODERN, 'a server on RootsGuard');
