import { Badge, Group, Text } from '@mantine/core';
import type { WorkspaceListRow } from '../../api/workspaces.js';
import { LockIcon } from '../../components/icons.js';
import { RunStatusBadge } from '../../components/run-status.js';
import { describeTag, formatTag } from '../../components/tag-text.js';
import { Time } from '../../components/times.js';
import type { GridColumn } from '../../components/virtual-grid.js';
import { OPTIONAL_COLUMNS, type OptionalColumn } from './workspaces.search.js';
import classes from './workspaces.module.css';

const SHOWN_TAGS = 2;

/**
 * The first tags. The others are a number. A narrow column has space for one tag. Long tags end with an ellipsis, because all
 * rows are equally high; the title has all tags in full.
 */
const Tags = ({ tags }: Pick<WorkspaceListRow, 'tags'>) => (
  <div className={classes['tagCell']}>
    <Group gap={4} wrap="nowrap" title={tags.length > 0 ? tags.map(describeTag).join(', ') : undefined}>
      {tags.slice(0, SHOWN_TAGS).map((tag) => (
        <Badge
          key={tag.key}
          variant="default"
          fw={500}
          className={classes['tag']}
          data-inherited={tag.isInherited || undefined}
        >
          {formatTag(tag)}
        </Badge>
      ))}
      {tags.length > 1 && (
        <Text size="xs" c="dimmed" className={classes['moreThanOne']}>
          +{tags.length - 1}
        </Text>
      )}
      {tags.length > SHOWN_TAGS && (
        <Text size="xs" c="dimmed" className={classes['moreThanTwo']}>
          +{tags.length - SHOWN_TAGS}
        </Text>
      )}
    </Group>
  </div>
);

const Lock = ({ lock }: { readonly lock: NonNullable<WorkspaceListRow['lock']> }) => {
  const text = `Locked by ${lock.holder}${lock.reason === '' ? '' : `: ${lock.reason}`}`;
  return (
    <span className={classes['lock']} title={text} role="img" aria-label={text}>
      <LockIcon size={14} />
    </span>
  );
};

const createAllColumns = (organization: string, isExact: boolean): readonly GridColumn<WorkspaceListRow>[] => [
  {
    id: 'name',
    header: 'Name',
    meta: { width: 'minmax(9rem, 3fr)', sort: 'name', isTitle: true },
    cell: ({ row: { original } }) => (
      <span className={classes['nameCell']}>
        <a href={`/app/${organization}/workspaces/${original.name}`} tabIndex={-1} className={classes['name']}>
          {original.name}
        </a>
        {original.lock && <Lock lock={original.lock} />}
      </span>
    ),
  },
  {
    id: 'run',
    header: 'Current run',
    // As wide as the badge of a run that needs confirmation.
    meta: { width: 'minmax(10.5rem, 1.2fr)', sort: 'current-run.created-at' },
    cell: ({ row: { original } }) =>
      original.run === null ? (
        <Text size="sm" c="dimmed">
          No run
        </Text>
      ) : (
        <RunStatusBadge run={original.run} />
      ),
  },
  {
    id: 'project',
    header: 'Project',
    meta: { width: 'minmax(7rem, 1.4fr)', isWide: true },
    cell: ({ row: { original } }) => original.project,
  },
  {
    id: 'tags',
    header: 'Tags',
    meta: { width: 'minmax(8rem, 1.6fr)', isWide: true },
    cell: ({ row: { original } }) => <Tags tags={original.tags} />,
  },
  {
    id: 'resources',
    header: 'Resources',
    meta: { width: '5.5rem', isWide: true },
    cell: ({ row: { original } }) => original.resourceCount.toLocaleString(),
  },
  {
    id: 'changed',
    header: 'State changed',
    // As wide as a date and a time to the second.
    meta: { width: isExact ? 'minmax(11rem, 1fr)' : 'minmax(7rem, 1fr)', sort: 'latest-change-at', isWide: true },
    cell: ({ row: { original } }) => <Time value={original.changedAt} />,
  },
];

type ColumnOptions = {
  /** By default, all columns. */
  readonly chosen: readonly OptionalColumn[] | undefined;
  /** Whether times are dates and times. */
  readonly isExact: boolean;
};

/** The columns of the list: the name, and the chosen ones. Links lead to workspaces of this organization. */
export const createWorkspaceColumns = (
  organization: string,
  { chosen = OPTIONAL_COLUMNS, isExact }: ColumnOptions,
): readonly GridColumn<WorkspaceListRow>[] =>
  createAllColumns(organization, isExact).filter(({ id }) => id === 'name' || chosen.some((column) => column === id));
