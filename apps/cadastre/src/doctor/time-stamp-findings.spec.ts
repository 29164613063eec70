import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTimeStampAuthority, type TestTimeStampAuthority } from '../../../../test/support/time-stamp-authority.js';
import { inspectTimeStampAuthority } from './time-stamp-findings.js';

let authority: TestTimeStampAuthority;

beforeAll(async () => {
  authority = await startTimeStampAuthority();
});
afterAll(() => authority.close());

const inspect = (caFile = authority.caFile) => {
  const timeStamps = { url: authority.url, caFile, policy: null, intervalMs: 1 };
  return inspectTimeStampAuthority({ timeStamps }, () => new Date());
};

it('reports that the authority stamps', async () => {
  expect(await inspect()).toEqual({
    result: 'ok',
    check: 'time stamps',
    detail: 'stamps stamps with the policy 1.2.3.4.1, and its answer is valid',
  });
  expect(await inspectTimeStampAuthority({ timeStamps: null }, () => new Date())).toBeNull();
});

it('reports certificates that do not lead to that of the authority', async () => {
  expect(await inspect(authority.caFile.replace(/root\.pem$/, 'other.pem'))).toEqual({
    result: 'FAILED',
    check: 'time stamps',
    detail:
      'the certificate of the authority is not issued by a certificate in CADASTRE_TIME_STAMP_CA; ' +
      'correct CADASTRE_TIME_STAMP_…, or ask the authority',
  });
});
