import { Alert, Badge, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { stateFileQuery } from '../../api/states.js';
import { Card } from '../../components/card.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import {
  compareStates,
  type ResourceDifference,
  type StateDifference,
  type ValueDifference,
} from './compare-states.js';
import classes from '../../components/resource-changes.module.css';

/** More elements make the page slow. */
const MAX_RESOURCES = 500;

const KINDS = {
  added: { label: 'Added', color: 'green' },
  removed: { label: 'Removed', color: 'red' },
  changed: { label: 'Changed', color: 'yellow' },
} as const;

const Values = ({ values }: { readonly values: readonly ValueDifference[] }) => (
  <dl className={classes['values']}>
    {values.map(({ path, before, after, isSensitive }) => (
      <div key={path} className={classes['value']}>
        <dt>
          <code>{path}</code>
        </dt>
        <dd>
          {isSensitive && <span className={classes['quiet']}>Sensitive value: {describeSensitive(before, after)}</span>}
          {!isSensitive && before !== null && <del>{before}</del>}
          {!isSensitive && after !== null && <ins>{after}</ins>}
        </dd>
      </div>
    ))}
  </dl>
);

const describeSensitive = (before: string | null, after: string | null): string => {
  if (before === null) return 'added';
  return after === null ? 'removed' : 'changed';
};

const Resource = ({ resource: { address, kind, values } }: { readonly resource: ResourceDifference }) => (
  <details open={kind === 'changed'} className={classes['resource']}>
    <summary>
      <Badge color={KINDS[kind].color}>{KINDS[kind].label}</Badge> <code>{address}</code>
    </summary>
    <Values values={values} />
  </details>
);

const countKinds = (resources: readonly ResourceDifference[]): string =>
  (['added', 'changed', 'removed'] as const)
    .map((kind) => `${resources.filter((resource) => resource.kind === kind).length} ${kind}`)
    .join(', ');

const Difference = ({ difference: { resources, outputs } }: { readonly difference: StateDifference }) => (
  <>
    <Text size="sm" role="status">
      Resources: {countKinds(resources)}. Outputs: {outputs.length} changed.
    </Text>
    {resources.slice(0, MAX_RESOURCES).map((resource) => (
      <Resource key={resource.address} resource={resource} />
    ))}
    {resources.length > MAX_RESOURCES && (
      <Text size="sm">The list shows the first {MAX_RESOURCES.toLocaleString()} resources.</Text>
    )}
    {outputs.length > 0 && (
      <section aria-label="Changed outputs">
        <Text fw={600} size="sm">
          Outputs
        </Text>
        <Values values={outputs} />
      </section>
    )}
  </>
);

type FilesProps = {
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
};

const FilesDifference = ({ before, after }: FilesProps) => {
  const difference = useMemo(() => compareStates(before, after), [before, after]);
  return <Difference difference={difference} />;
};

type ComparisonProps = { readonly from: string; readonly to: string; readonly title: string };

/** The differences between two states. The browser compares their files. */
export const Comparison = ({ from, to, title }: ComparisonProps) => {
  const before = useQuery(stateFileQuery(from));
  const after = useQuery(stateFileQuery(to));
  return (
    <Card title={title}>
      {from === to && <Alert color="yellow">Choose two different versions.</Alert>}
      <QueryState query={before} what="state version" loading={<LoadingLines />}>
        {(old) => (
          <QueryState query={after} what="state version" loading={<LoadingLines />}>
            {(next) => <FilesDifference before={old} after={next} />}
          </QueryState>
        )}
      </QueryState>
    </Card>
  );
};
