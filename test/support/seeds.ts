import { expect } from '@jest/globals';
import type { Answer, Api } from './server.js';

/** The body of a JSON:API request. */
export const resource = (type: string, attributes: object = {}, relationships?: object): object => ({
  data: { type, attributes, ...(relationships ? { relationships } : {}) },
});

/** The answer, where it has this status; else what it said instead. */
export const answered = (answer: Answer, status: number): Answer => {
  expect({ status: answer.status, text: answer.status === status ? '' : answer.text }).toEqual({ status, text: '' });
  return answer;
};

const created = (answer: Answer): Answer => answered(answer, 201);

export type SeededOrganization = {
  readonly name: string;
  /** Stable id, `org-…`. */
  readonly id: string;
  readonly defaultProject: string;
  readonly ownersTeam: string;
};

export const makeOrganization = async (api: Api, name: string): Promise<SeededOrganization> => {
  const attributes = { name, email: `ops@${name}.test` };
  const { body } = created(await api.post('/api/v2/organizations', resource('organizations', attributes)));
  const { relationships } = body.data;
  return {
    name,
    id: body.data.attributes['external-id'] as string,
    defaultProject: relationships['default-project'].data.id as string,
    ownersTeam: relationships['owners-team'].data.id as string,
  };
};

/** The id of a new workspace. */
export const makeWorkspace = async (
  api: Api,
  organization: string,
  name: string,
  attributes: object = {},
  relationships?: object,
): Promise<string> => {
  const body = resource('workspaces', { name, ...attributes }, relationships);
  return created(await api.post(`/api/v2/organizations/${organization}/workspaces`, body)).body.data.id as string;
};

export const makeProject = async (api: Api, organization: string, name: string): Promise<string> =>
  created(await api.post(`/api/v2/organizations/${organization}/projects`, resource('projects', { name }))).body.data
    .id as string;

/** The secret of a token made at this path, such as `/api/v2/teams/team-…/authentication-token`. */
export const makeToken = async (api: Api, path: string): Promise<string> =>
  created(await api.post(path)).body.data.attributes.token as string;

export const makeOrganizationToken = (api: Api, organization: string): Promise<string> =>
  makeToken(api, `/api/v2/organizations/${organization}/authentication-token`);
