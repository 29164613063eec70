import type { Tag, Timestamp } from '#platform/kernel';
import { decideWrite, newStream, type BulkWrite, type StreamWrite } from '#storage/event-store';
import { prepareOrganization, project, type ProjectState } from '#organizations/organizations';
import type { SeedOptions } from './seed-options.js';
import { addRequest, pickUser, type SeedPlan } from './seed-plan.js';

export type SeedOrganization = {
  readonly id: string;
  /** Ids of its projects, the default project first. */
  readonly projects: readonly string[];
  readonly writes: readonly BulkWrite[];
};

const TEAMS = 20;
const FIRST_COST_CENTER = 1_000;

export const nameOrganization = ({ prefix }: Pick<SeedOptions, 'prefix'>, n: number): string => `${prefix}-${n + 1}`;

/** Tags that the workspaces of a project inherit. */
const listProjectTags = (n: number): readonly Tag[] => [
  { key: 'cost-center', value: String(FIRST_COST_CENTER + n) },
  { key: 'owner', value: `team-${(n % TEAMS) + 1}` },
];

/** Adds tags to the write that creates the default project. The API needs a second request for them. */
const bindDefaultTags = (write: StreamWrite, organization: string): StreamWrite => {
  const loaded = { stream: write.stream, version: write.events.length, state: write.snapshot?.state as ProjectState };
  const bindings = listProjectTags(0);
  const bound = decideWrite(project, loaded, organization, {
    type: 'BindProjectTags',
    data: { bindings, mode: 'replacing' },
  });
  return { ...bound, expected: write.expected, events: [...write.events, ...bound.events] };
};

/** Creates the nth organization, with the events that the API would append. */
export const planOrganization = (plan: SeedPlan, n: number, time: Timestamp): SeedOrganization => {
  const { options, ids, defaults } = plan;
  const founder = pickUser(plan, n);
  const name = nameOrganization(options, n);
  const { id, defaultProject, writes } = prepareOrganization(
    ids,
    { user: founder.id, username: founder.username },
    { name, email: `${name}@example.com`, featureSet: defaults.featureSet, settings: {} },
  );
  const projects = Array.from({ length: options.projects }, () => ids.next('prj'));
  const created = projects.map((stream, index) =>
    decideWrite(project, newStream(stream, project), id, {
      type: 'CreateProject',
      data: { name: `project-${index + 1}`, bindings: listProjectTags(index + 1) },
    }),
  );
  const all = [
    ...writes.map((write) => (write.stream === defaultProject ? bindDefaultTags(write, id) : write)),
    ...created,
  ];
  return {
    id,
    projects: [defaultProject, ...projects],
    writes: all.map((write) =>
      addRequest(
        plan,
        write,
        founder,
        write.events.map(() => time),
      ),
    ),
  };
};
