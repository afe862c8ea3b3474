import { LEGACY, testScenarios, testTable } from './conformance-release.ts';

testTable(LEGACY);
testScenarios(LEGACY, 'the endpoint');
