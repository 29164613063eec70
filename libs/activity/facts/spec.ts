export const SOURCE = 'https://policies.example';

type Meta = Readonly<Record<string, unknown>> | null;

const check = {
  comment: null,
  run: { id: 'run-1', message: 'Queued by hand' },
  workspace: { id: 'ws-1', name: 'prod' },
};
const verdict = {
  ...check,
  result: [{ policy: 'no-open-ports', passed: true }],
  passed: 3,
  total_failed: 2,
  hard_failed: 0,
  soft_failed: 1,
  advisory_failed: 1,
  duration_ms: 120,
  sentinel: 'no-open-ports',
};
const ended = { ...check, comment: 'looked at', actor: 'ada' };

/** Examples of `meta` by row name, for rows with required fields. */
export const META: Readonly<Record<string, Meta>> = {
  'policy_check.override': check,
  'policy_check.passed': verdict,
  'policy_check.soft_failed': verdict,
  'policy_check.hard_failed': verdict,
  'policy_check.errored': verdict,
  'policy_check.overridden': ended,
  'policy_check.canceled': ended,
  'policy_check.force_canceled': ended,
};

/**
 * The methods of the test client that these helpers use. Its type is not imported, because a file with one dot imports
 * only its own module.
 */
type TestFactsResponse = { readonly status: number; readonly body: any; readonly text: string };
type TestFactsClient<A extends TestFactsResponse> = { post(path: string, body?: unknown): Promise<A> };

/** Registers a source, so that the organization accepts its facts by Kafka. */
export const registerSource = async <A extends TestFactsResponse>(
  api: TestFactsClient<A>,
  organization: string,
  source = SOURCE,
): Promise<A> => {
  const body = { data: { type: 'audit-fact-sources', attributes: { source, description: 'Policies' } } };
  const answer = await api.post(`/api/v2/organizations/${organization}/audit-fact-sources`, body);
  if (answer.status !== 201) throw new Error(`${answer.status} instead of 201: ${answer.text}`);
  return answer;
};

/** Creates a fact of this row, such as `stack.create`, in the form that a service reports. */
export const createFact = (id: string, row = 'stack.create', meta: Meta = META[row] ?? null) => {
  const [type = '', action = ''] = row.split('.');
  return {
    source: SOURCE,
    id,
    time: '2026-11-21T12:00:00.000+02:00',
    auth: { accessor_id: 'user-7', description: 'ada', type: 'Impersonated', impersonator_id: 'user-root' },
    request: { id: 'b7f4c1de-5a43-4b1e-9c55-2f6d3c1a0e77' },
    resource: { id: `thing-${id}`, type, action, meta },
  };
};
