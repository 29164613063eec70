export const LINEAGE = '3c8a1b0e-5d7c-0f5e-9a51-6f5f1f0e7c11';

type StateFileOptions = {
  readonly serial?: number;
  readonly lineage?: string;
  readonly name?: string;
  readonly module?: string;
  readonly outputs?: object;
};

/** The default serial is above every serial that specs declare, because a declared serial must not be above it. */
export const createStateFile = ({
  serial = 1_000,
  lineage = LINEAGE,
  name = 'it',
  module,
  outputs = {},
}: StateFileOptions = {}): Buffer =>
  Buffer.from(
    JSON.stringify(
      {
        version: 4,
        terraform_version: '1.13.4',
        serial,
        lineage,
        outputs,
        resources: [
          {
            ...(module === undefined ? {} : { module }),
            mode: 'managed',
            type: 'null_resource',
            name,
            provider: 'provider["registry.terraform.io/hashicorp/null"]',
            instances: [0, 1].map((index_key) => ({
              index_key,
              schema_version: 0,
              attributes: { id: `${index_key}` },
            })),
          },
        ],
        check_results: null,
      },
      null,
      2,
    ),
  );

/**
 * The properties of the test client's response that these helpers use. Its type is not imported, because a file with
 * one dot imports only its own module.
 */
type TestStateResponse = { readonly status: number; readonly body: unknown; readonly text: string };
type TestStateClient<A extends TestStateResponse = TestStateResponse> = {
  post(path: string, body?: unknown): Promise<A>;
};

const expectStatus = (answer: TestStateResponse, status: number): TestStateResponse => {
  if (answer.status !== status) throw new Error(`${answer.status} instead of ${status}: ${answer.text}`);
  return answer;
};

let workspaces = 0;

export const createLockedWorkspace = async (
  api: TestStateClient,
  name = `ws-${(workspaces += 1)}`,
  organization = 'acme',
): Promise<string> => {
  const attributes = { name };
  const body = { data: { type: 'workspaces', attributes } };
  const created = expectStatus(await api.post(`/api/v2/organizations/${organization}/workspaces`, body), 201);
  const { id } = (created.body as { data: { id: string } }).data;
  expectStatus(await api.post(`/api/v2/workspaces/${id}/actions/lock`), 200);
  return id;
};

export const unlock = async (api: TestStateClient, id: string): Promise<void> => {
  expectStatus(await api.post(`/api/v2/workspaces/${id}/actions/unlock`), 200);
};

/** Creates requests for state versions. The MD5 is that of the bytes unless the attributes contain another. */
export const createStateRequests = (md5Of: (bytes: Buffer) => string) => {
  const createBody = (attributes: object, bytes: Buffer): object => ({
    data: { type: 'state-versions', attributes: { serial: 1, lineage: LINEAGE, md5: md5Of(bytes), ...attributes } },
  });
  const postState = <A extends TestStateResponse>(
    api: TestStateClient<A>,
    workspace: string,
    attributes: object,
    bytes: Buffer,
  ): Promise<A> => api.post(`/api/v2/workspaces/${workspace}/state-versions`, createBody(attributes, bytes));
  return { createBody, postState };
};
