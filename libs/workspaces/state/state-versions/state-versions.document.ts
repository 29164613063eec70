import type { Actor } from '#api/access';
import { toOne, type Resource } from '#api/json-api';
import type { BlocksIndex } from '../state-file/state-extract.js';
import type { OutputRow, StateVersionRow } from './state-versions.queries.js';
import type { StateLinks } from '../files/state.links.js';

type StateVersionView = {
  readonly links: StateLinks;
  readonly actor: Actor;
  readonly hasJson: boolean;
  /** Resource blocks; null if the state is not stored or the list is too long. */
  readonly blocks: BlocksIndex;
  readonly mayUpload: boolean;
};

const buildUrls = ({ id, status }: StateVersionRow, { links, actor, hasJson, mayUpload }: StateVersionView) => {
  const pending = status === 'pending';
  const finalized = status === 'finalized';
  return {
    'hosted-state-download-url': finalized ? links.download(id, 'state', actor) : null,
    'hosted-json-state-download-url':
      (pending || finalized) && hasJson ? links.download(id, 'json-state', actor) : null,
    'hosted-state-upload-url': pending && mayUpload ? links.upload(id, 'state', actor) : null,
    'hosted-json-state-upload-url': pending && mayUpload && !hasJson ? links.upload(id, 'json-state', actor) : null,
  };
};

export const renderStateVersion = (row: StateVersionRow, view: StateVersionView): Resource => {
  const self = `/api/v2/state-versions/${row.id}`;
  const { createdBy } = row;
  return {
    id: row.id,
    type: 'state-versions',
    attributes: {
      'created-at': row.createdAt,
      size: row.size,
      ...buildUrls(row, view),
      intermediate: row.intermediate,
      modules: row.modules,
      providers: row.providers,
      resources: view.blocks,
      'resources-processed': row.size !== null,
      serial: row.serial,
      'state-version': row.format,
      status: row.status,
      'terraform-version': row.terraformVersion,
      'vcs-commit-sha': null,
      'vcs-commit-url': null,
    },
    relationships: {
      run: toOne('runs', row.run, `/api/v2/runs/${row.run ?? ''}`),
      'created-by': toOne(createdBy.type, createdBy.id, `/api/v2/${createdBy.type}/${createdBy.id}`),
      'rollback-state-version': toOne(
        'state-versions',
        row.rollbackOf,
        `/api/v2/state-versions/${row.rollbackOf ?? ''}`,
      ),
      workspace: toOne('workspaces', row.workspace, `/api/v2/workspaces/${row.workspace}`),
      outputs: {
        data: row.outputs.map(({ id }) => ({ type: 'state-version-outputs', id })),
        links: { related: `${self}/outputs` },
      },
    },
    links: { self },
  };
};

/** Renders the attributes of a value; undefined is a value that does not fit into the document. */
const renderValue = (value: unknown): object => (value === undefined ? { 'value-omitted': true } : { value });

/** `value`: undefined if it does not fit into the document. */
export const renderOutput = ({ id, name, sensitive, type, detailedType }: OutputRow, value: unknown): Resource => ({
  id,
  type: 'state-version-outputs',
  attributes: { name, sensitive, type, ...renderValue(value), 'detailed-type': detailedType },
  links: { self: `/api/v2/state-version-outputs/${id}` },
});

/** `value`: as for `renderOutput`. */
export const renderWorkspaceOutput = ({ id, name, sensitive, type }: OutputRow, value: unknown): Resource => ({
  id,
  type: 'workspace-outputs',
  attributes: { name, sensitive, 'output-type': type, ...renderValue(value) },
});
