import { MODERN, testScenarios, testTable } from './conformance-release.ts';

testTable(MODERN);
testScenarios(MODERN, 'the endpoint');
