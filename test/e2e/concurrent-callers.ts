import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { related, reportBody, resource, runBody } from '../support/seeds.js';
import type { ApiResponse, ApiTestClient } from '../support/server.js';
import { newStateVersion, pathOf, stateFile } from '../support/state-file.js';

type State = { readonly id: string; readonly workspace: string };
type Upload = { readonly link: string; readonly bytes: Uint8Array };

/** What everybody in the crowd knows of. Some of it is gone, and who comes too late is told so. */
export class ConcurrentState {
  readonly workspaces: string[] = [];
  readonly projects: string[] = [];
  readonly runs: string[] = [];
  readonly states: State[] = [];
  readonly uploads: Upload[] = [];
  readonly variables: string[] = [];
  readonly sets: string[] = [];
  readonly sshKeys: string[] = [];
  readonly access: string[] = [];
  serial = 0;

  constructor(
    readonly team: string,
    readonly pool: string,
    /** What all runs are made of. */
    readonly configuration: string,
  ) {}
}

/** Only so many: the oldest have been seen to. */
const note = <T>(list: T[], made: T, most: number): void => {
  list.push(made);
  if (list.length > most) list.shift();
};

/** Keeps the id of what was made. */
const kept = async (asked: Promise<ApiResponse>, list: string[], most = 20): Promise<ApiResponse> => {
  const answer = await asked;
  if (answer.status === 201) note(list, answer.body.data.id as string, most);
  return answer;
};

/** One request after the other, until one is refused. */
const inTurn = async (
  asked: Promise<ApiResponse>,
  ...more: readonly ((last: ApiResponse) => Promise<ApiResponse>)[]
): Promise<ApiResponse> => {
  let answer = await asked;
  for (const ask of more) {
    if (answer.status >= 300) break;
    answer = await ask(answer);
  }
  return answer;
};

/** Somebody's turn: what they choose is the same for the same seed, whoever is faster. */
export class ConcurrentStep {
  private readonly dice: Buffer;
  private rolled = 0;

  constructor(
    readonly api: ApiTestClient,
    readonly agents: ApiTestClient,
    readonly state: ConcurrentState,
    seed: string,
  ) {
    this.dice = createHash('sha512').update(seed).digest();
  }

  below(bound: number): number {
    const roll = this.dice.readUInt32LE(this.rolled);
    this.rolled = (this.rolled + 4) % this.dice.length;
    return roll % bound;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  /** One that somebody has made. */
  one(kind: 'runs' | 'variables' | 'sets' | 'sshKeys' | 'access' | 'projects'): string {
    const ids = this.state[kind];
    return ids.length > 0 ? this.pick(ids) : 'none';
  }

  /** Half of all that is done is done to a few. */
  workspace(): string {
    const { workspaces } = this.state;
    return this.pick(this.below(2) === 0 ? workspaces.slice(-5) : workspaces);
  }

  get at(): string {
    return `/api/v2/workspaces/${this.workspace()}`;
  }

  act(action: string, body?: object): Promise<ApiResponse> {
    return this.api.post(`${this.at}/${action}`, body);
  }

  update(attributes: object, relationships?: object): Promise<ApiResponse> {
    return this.api.patch(this.at, resource('workspaces', attributes, relationships));
  }

  async upload(workspace: string, inline: boolean): Promise<ApiResponse> {
    const file = stateFile({ serial: (this.state.serial += 1), lineage: 'crowd' });
    const answer = await this.api.post(
      `/api/v2/workspaces/${workspace}/state-versions`,
      newStateVersion(file, { inline }),
    );
    if (answer.status !== 201) return answer;
    const { id, attributes } = answer.body.data;
    note(this.state.states, { id, workspace }, 20);
    const link = attributes['hosted-state-upload-url'] as string | null;
    if (link) note(this.state.uploads, { link: pathOf(link), bytes: file.bytes }, 5);
    return answer;
  }

  queue(workspace: string, attributes: object = {}): Promise<ApiResponse> {
    const configuration = { 'configuration-version': toOne('configuration-versions', this.state.configuration) };
    return kept(this.api.post('/api/v2/runs', runBody(workspace, attributes, configuration)), this.state.runs);
  }

  actOn(run: string, action: string): Promise<ApiResponse> {
    return this.api.post(`/api/v2/runs/${run}/actions/${action}`);
  }

  report(run: string, status: string): Promise<ApiResponse> {
    return this.agents.post(`/api/v2/runs/${run}/progress`, reportBody(status, { 'resource-additions': 1 }));
  }
}

const toOne = (type: string, id: string): object => ({ data: { type, id } });

const idOf = ({ body }: ApiResponse): string => body.data.id as string;

const ACME = '/api/v2/organizations/acme';
const CONSUMERS = 'relationships/remote-state-consumers';
const POLICY = 'relationships/data-retention-policy';

const flat = (turn: ConcurrentStep): object => ({
  data: [{ type: 'tags', attributes: { name: `tag-${turn.below(20)}` } }],
});

const binding = (turn: ConcurrentStep): object => ({
  data: [{ type: 'tag-bindings', attributes: { key: `key-${turn.below(12)}`, value: `${turn.below(3)}` } }],
});

const some = (turn: ConcurrentStep): object =>
  related('workspaces', ...Array.from({ length: 1 + turn.below(3) }, () => turn.workspace()));

const settings = (turn: ConcurrentStep): object =>
  turn.pick([
    { description: `number ${turn.below(1_000)}` },
    { name: `crowd-${turn.below(400)}` },
    { 'auto-apply': turn.below(2) === 0 },
    { 'global-remote-state': turn.below(2) === 0 },
    { 'project-remote-state': turn.below(2) === 0 },
    { 'trigger-prefixes': ['modules'] },
    { 'auto-destroy-activity-duration': turn.pick([null, '14d']) },
    { 'execution-mode': turn.pick(['remote', 'remote', 'local']) },
    { 'execution-mode': 'agent', 'agent-pool-id': turn.state.pool },
    { 'setting-overwrites': { 'execution-mode': false, 'agent-pool': false } },
  ]);

const defaultMode = (turn: ConcurrentStep): object =>
  turn.pick([
    { 'default-execution-mode': 'remote' },
    { 'default-execution-mode': 'remote' },
    { 'default-execution-mode': 'remote' },
    { 'default-execution-mode': 'local' },
    { 'default-execution-mode': 'agent', 'default-agent-pool-id': turn.state.pool },
  ]);

const policy = (turn: ConcurrentStep): object =>
  resource('data-retention-policy-delete-olders', { 'delete-older-than-n-days': 1 + turn.below(90) });

const variable = (turn: ConcurrentStep): object =>
  resource('vars', { key: `key_${turn.below(5)}`, value: 'v', category: 'env', sensitive: turn.below(2) === 0 });

/** As the CLI does. */
const apply = (turn: ConcurrentStep): Promise<ApiResponse> => {
  const { api, at } = turn;
  const workspace = at.slice(at.lastIndexOf('/') + 1);
  return inTurn(
    api.post(`${at}/actions/lock`, { reason: 'terraform apply' }),
    () => turn.upload(workspace, true),
    () => api.post(`${at}/actions/unlock`),
  );
};

const carryOut = (turn: ConcurrentStep): Promise<ApiResponse> =>
  inTurn(turn.queue(turn.workspace(), { 'auto-apply': false }), async (queued) => {
    const run = idOf(queued);
    return inTurn(
      turn.report(run, 'planning'),
      () => turn.report(run, 'planned'),
      () => turn.actOn(run, 'apply'),
      () => turn.report(run, 'applying'),
      () => turn.report(run, 'applied'),
    );
  });

/** In a workspace of its own, which others soon know of. */
const overtake = (turn: ConcurrentStep): Promise<ApiResponse> => {
  const name = `overtaken-${(turn.state.serial += 1)}`;
  const body = resource('workspaces', { name, 'execution-mode': 'remote' });
  const made = kept(turn.api.post(`${ACME}/workspaces`, body), turn.state.workspaces, 300);
  return inTurn(made, (born) =>
    inTurn(
      turn.queue(idOf(born), { 'auto-apply': false }),
      (first) => inTurn(turn.report(idOf(first), 'planning'), () => turn.report(idOf(first), 'planned')),
      () => turn.queue(idOf(born)),
      (second) => turn.actOn(idOf(second), 'force-execute'),
    ),
  );
};

const NO_UPLOAD: Upload = { link: '/api/v2/state-versions/upload/none', bytes: new Uint8Array() };

/** In two steps, as the CLI does, too; the file comes twice at the same time. */
const announce = (turn: ConcurrentStep): Promise<ApiResponse> => {
  const { api } = turn;
  const workspace = turn.workspace();
  return inTurn(
    api.post(`/api/v2/workspaces/${workspace}/actions/lock`),
    () => turn.upload(workspace, false),
    () => bring(turn, turn.state.uploads.at(-1)),
    () => api.post(`/api/v2/workspaces/${workspace}/actions/unlock`),
  );
};

const bring = async ({ api }: ConcurrentStep, { link, bytes } = NO_UPLOAD): Promise<ApiResponse> => {
  const [one, other] = await Promise.all([api.as(null).put(link, bytes), api.as(null).put(link, bytes)]);
  return one.status > other.status ? one : other;
};

/** Whoever had announced it never brings it, unless somebody else does. */
const die = (turn: ConcurrentStep): Promise<ApiResponse> => {
  const workspace = turn.workspace();
  return inTurn(turn.api.post(`/api/v2/workspaces/${workspace}/actions/lock`), () => turn.upload(workspace, false));
};

const configure = (turn: ConcurrentStep): Promise<ApiResponse> =>
  inTurn(turn.act('configuration-versions', resource('configuration-versions', { 'auto-queue-runs': true })), (made) =>
    turn.api.as(null).put(pathOf(made.body.data.attributes['upload-url'] as string), gzipSync('main.tf')),
  );

const rollBack = async (turn: ConcurrentStep): Promise<ApiResponse> => {
  const { id, workspace } = turn.pick(turn.state.states) ?? { id: 'none', workspace: 'none' };
  const back = { 'rollback-state-version': toOne('state-versions', id) };
  const at = `/api/v2/workspaces/${workspace}`;
  return inTurn(
    turn.api.post(`${at}/actions/lock`),
    () => turn.api.patch(`${at}/state-versions`, resource('state-versions', {}, back)),
    () => turn.api.post(`${at}/actions/unlock`),
  );
};

const changeData = (turn: ConcurrentStep): Promise<ApiResponse> => {
  const { id } = turn.pick(turn.state.states) ?? { id: 'none' };
  const action = turn.pick(['soft_delete', 'soft_delete', 'restore', 'permanently_delete']);
  return turn.api.post(`/api/v2/state-versions/${id}/actions/${action}_backing_data`);
};

export type ConcurrentAction = {
  readonly weight: number;
  /** Of each deed at least one comes to this. */
  readonly done: number;
  /** What it may be told instead, for others have been there before, or because it is nothing for that token. */
  readonly refused: readonly number[];
  readonly send: (turn: ConcurrentStep) => Promise<ApiResponse>;
};

const workspaces: Readonly<Record<string, ConcurrentAction>> = {
  'make a workspace': {
    weight: 6,
    done: 201,
    refused: [422],
    send: (turn) => {
      const into = { project: toOne('projects', turn.one('projects')) };
      const body = resource('workspaces', { name: `crowd-${turn.below(400)}` }, into);
      return kept(turn.api.post(`${ACME}/workspaces`, body), turn.state.workspaces, 300);
    },
  },
  update: { weight: 9, done: 200, refused: [404, 422], send: (turn) => turn.update(settings(turn)) },
  move: {
    weight: 3,
    done: 200,
    refused: [404, 422],
    send: (turn) => turn.update({}, { project: toOne('projects', turn.one('projects')) }),
  },
  'move some': {
    weight: 2,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.post(`/api/v2/projects/${turn.one('projects')}/relationships/workspaces`, some(turn)),
  },
  delete: { weight: 2, done: 204, refused: [404, 409], send: (turn) => turn.act('actions/safe-delete') },
  'delete by force': { weight: 2, done: 204, refused: [403, 404], send: (turn) => turn.api.delete(turn.at) },
  lock: { weight: 8, done: 200, refused: [404, 409], send: (turn) => turn.act('actions/lock') },
  unlock: { weight: 8, done: 200, refused: [404, 409, 503], send: (turn) => turn.act('actions/unlock') },
  'unlock by force': { weight: 6, done: 200, refused: [404, 409], send: (turn) => turn.act('actions/force-unlock') },
  tag: { weight: 3, done: 204, refused: [404], send: (turn) => turn.act('relationships/tags', flat(turn)) },
  untag: {
    weight: 2,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.delete(`${turn.at}/relationships/tags`, flat(turn)),
  },
  bind: {
    weight: 4,
    done: 200,
    refused: [404, 422],
    send: (turn) => turn.api.patch(`${turn.at}/tag-bindings`, binding(turn)),
  },
  'let consume': { weight: 3, done: 204, refused: [404, 422], send: (turn) => turn.act(CONSUMERS, some(turn)) },
  'let others consume': {
    weight: 2,
    done: 204,
    refused: [404, 422],
    send: (turn) => turn.api.patch(`${turn.at}/${CONSUMERS}`, some(turn)),
  },
  'let consume no more': {
    weight: 2,
    done: 204,
    refused: [404, 422],
    send: (turn) => turn.api.delete(`${turn.at}/${CONSUMERS}`, some(turn)),
  },
  'assign an SSH key': {
    weight: 3,
    done: 200,
    refused: [404, 422],
    send: (turn) => {
      const body = resource('workspaces', { id: turn.pick([turn.one('sshKeys'), null]) });
      return turn.api.patch(`${turn.at}/relationships/ssh-key`, body);
    },
  },
  'keep its states so long': { weight: 2, done: 200, refused: [404], send: (turn) => turn.act(POLICY, policy(turn)) },
  'keep its states like others’': {
    weight: 2,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.delete(`${turn.at}/${POLICY}`),
  },
};

const states: Readonly<Record<string, ConcurrentAction>> = {
  apply: { weight: 6, done: 200, refused: [404, 409, 503], send: apply },
  'apply in two steps': { weight: 4, done: 200, refused: [404, 409, 503], send: announce },
  'die in the midst': { weight: 4, done: 201, refused: [404, 409], send: die },
  'bring a file': {
    weight: 3,
    done: 200,
    // Of two at once the second is in conflict with the first where that one came too late.
    refused: [403, 404, 409],
    send: (turn) => bring(turn, turn.pick(turn.state.uploads)),
  },
  'roll back': { weight: 3, done: 200, refused: [404, 409, 422, 503], send: rollBack },
  'delete the data of a state': { weight: 3, done: 200, refused: [400, 404, 409], send: changeData },
};

const runs: Readonly<Record<string, ConcurrentAction>> = {
  configure: { weight: 1, done: 200, refused: [404], send: configure },
  'queue a run': {
    weight: 4,
    done: 201,
    refused: [404, 422],
    send: (turn) => turn.queue(turn.workspace(), { 'plan-only': turn.below(3) === 0 }),
  },
  'carry out a run': { weight: 6, done: 200, refused: [404, 409, 422, 503], send: carryOut },
  'overtake a run': { weight: 3, done: 202, refused: [404, 409, 422, 503], send: overtake },
  'act on a run': {
    weight: 6,
    done: 202,
    refused: [404, 409, 503],
    send: (turn) =>
      turn.actOn(turn.one('runs'), turn.pick(['apply', 'discard', 'cancel', 'force-cancel', 'force-execute'])),
  },
  'report of a run': {
    weight: 6,
    done: 200,
    refused: [404, 409, 503],
    send: (turn) => turn.report(turn.one('runs'), turn.pick(['planning', 'planned', 'applying', 'applied', 'errored'])),
  },
  comment: {
    weight: 2,
    done: 201,
    refused: [404],
    send: (turn) => turn.api.post(`/api/v2/runs/${turn.one('runs')}/comments`, resource('comments', { body: 'Hm.' })),
  },
  'issue a run’s token': {
    weight: 3,
    done: 201,
    refused: [404, 409],
    send: (turn) => turn.agents.post(`/api/v2/runs/${turn.one('runs')}/authentication-tokens`),
  },
};

const around: Readonly<Record<string, ConcurrentAction>> = {
  'add a variable': {
    weight: 4,
    done: 201,
    refused: [404, 422],
    send: (turn) => kept(turn.act('vars', variable(turn)), turn.state.variables),
  },
  'change a variable': {
    weight: 3,
    done: 200,
    refused: [404, 422],
    send: (turn) => turn.api.patch(`/api/v2/vars/${turn.one('variables')}`, variable(turn)),
  },
  'take away a variable': {
    weight: 2,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.delete(`/api/v2/vars/${turn.one('variables')}`),
  },
  'make a set of variables': {
    weight: 1,
    done: 201,
    refused: [404, 422],
    send: (turn) =>
      kept(turn.api.post(`${ACME}/varsets`, resource('varsets', { name: `set ${turn.below(9)}` })), turn.state.sets),
  },
  'apply a set': {
    weight: 2,
    done: 204,
    refused: [404, 422],
    send: (turn) => turn.api.post(`/api/v2/varsets/${turn.one('sets')}/relationships/workspaces`, some(turn)),
  },
  'delete a set': {
    weight: 1,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.delete(`/api/v2/varsets/${turn.one('sets')}`),
  },
  'make an SSH key': {
    weight: 2,
    done: 201,
    refused: [404, 422],
    send: (turn) => {
      const key = { name: `key ${turn.below(9)}`, value: '-----BEGIN OPENSSH PRIVATE KEY-----' };
      return kept(turn.api.post(`${ACME}/ssh-keys`, resource('ssh-keys', key)), turn.state.sshKeys, 5);
    },
  },
  'delete an SSH key': {
    weight: 2,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.delete(`/api/v2/ssh-keys/${turn.one('sshKeys')}`),
  },
  'give access': {
    weight: 2,
    done: 201,
    refused: [404, 422],
    send: (turn) => {
      const places = { team: toOne('teams', turn.state.team), workspace: toOne('workspaces', turn.workspace()) };
      const body = resource('team-workspaces', { access: 'read' }, places);
      return kept(turn.api.post('/api/v2/team-workspaces', body), turn.state.access);
    },
  },
  'change access': {
    weight: 2,
    done: 200,
    refused: [404],
    send: (turn) => {
      const body = resource('team-workspaces', { access: turn.pick(['plan', 'write', 'admin']) });
      return turn.api.patch(`/api/v2/team-workspaces/${turn.one('access')}`, body);
    },
  },
  'take access': {
    weight: 1,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.delete(`/api/v2/team-workspaces/${turn.one('access')}`),
  },
  'make a project': {
    weight: 2,
    done: 201,
    refused: [422],
    send: (turn) => {
      const body = resource('projects', { name: `project ${turn.below(30)}` });
      return kept(turn.api.post(`${ACME}/projects`, body), turn.state.projects, 8);
    },
  },
  'change a project’s mode': {
    weight: 3,
    done: 200,
    refused: [404],
    send: (turn) => turn.api.patch(`/api/v2/projects/${turn.one('projects')}`, resource('projects', defaultMode(turn))),
  },
  'delete a project': {
    weight: 3,
    done: 204,
    refused: [404, 422],
    send: (turn) => turn.api.delete(`/api/v2/projects/${turn.one('projects')}`),
  },
  'change the organization’s mode': {
    weight: 2,
    done: 200,
    refused: [404],
    send: (turn) => turn.api.patch(ACME, resource('organizations', defaultMode(turn))),
  },
  'keep all states so long': {
    weight: 1,
    done: 200,
    refused: [404],
    send: (turn) => turn.api.post(`${ACME}/${POLICY}`, policy(turn)),
  },
  'keep all states': { weight: 1, done: 204, refused: [404], send: (turn) => turn.api.delete(`${ACME}/${POLICY}`) },
  'look around': {
    weight: 2,
    done: 200,
    refused: [],
    send: (turn) => turn.api.get(`${ACME}/workspaces?include=current_run,locked_by,project&page%5Bsize%5D=20`),
  },
};

/** Everything that can be written about workspaces and what is around them, by how it is called. */
export const CONCURRENT_ACTIONS: ReadonlyMap<string, ConcurrentAction> = new Map(
  Object.entries({ ...workspaces, ...states, ...runs, ...around }),
);
