import { Stack, Text, Title } from '@mantine/core';
import { RowList } from '../../../components/row-list.js';
import type { BulkPlan } from './bulk-plan.js';
import classes from './bulk.module.css';
import { formatCount } from '../../../components/counts.js';

type NamedText = { readonly id: string; readonly name: string; readonly text: string };

type NamedListProps = { readonly title: string; readonly kind: 'change' | 'skip'; readonly rows: readonly NamedText[] };

/** Workspaces with a text for each. */
export const NamedList = ({ title, kind, rows }: NamedListProps) => (
  <section aria-label={title}>
    <Title order={3} size="h6" className={classes['heading']}>
      {title}
    </Title>
    <RowList label={title} count={rows.length} {...(kind === 'change' ? { kind } : {})}>
      {rows.map(({ id, name, text }) => (
        <li key={id}>
          <strong className={classes['name']}>{name}</strong>{' '}
          <span className={kind === 'skip' ? classes['reason'] : undefined}>{text}</span>
        </li>
      ))}
    </RowList>
  </section>
);

/** What the change does to each workspace, and why it leaves others as they are. */
export const BulkPreview = ({
  plan: { changes, skipped },
  missing,
}: {
  readonly plan: BulkPlan;
  readonly missing: number;
}) => (
  <Stack gap="sm">
    {changes.length > 0 && (
      <NamedList
        title={`${formatCount(changes.length, 'workspace')} will change`}
        kind="change"
        rows={changes.map(({ workspace: { id, name }, text }) => ({ id, name, text }))}
      />
    )}
    {skipped.length > 0 && (
      <NamedList
        title={`${formatCount(skipped.length, 'workspace')} will not change`}
        kind="skip"
        rows={skipped.map(({ workspace: { id, name }, reason }) => ({ id, name, text: reason }))}
      />
    )}
    {missing > 0 && (
      <Text size="sm" c="dimmed">
        {formatCount(missing, 'selected workspace')} no longer {missing === 1 ? 'exists' : 'exist'}, or you may no
        longer read {missing === 1 ? 'it' : 'them'}.
      </Text>
    )}
  </Stack>
);
