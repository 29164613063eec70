import { Button, Text, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { outputsQuery, readOutputValue } from '../../api/states.js';
import { describeError } from '../../api/api-error.js';
import { useChange } from '../../api/use-change.js';
import { CopyButton } from '../../components/copy.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { QueryState } from '../../components/states.js';
import { showToast } from '../../toasts.js';
import classes from './workspace-state.module.css';

type Output = ApiResource<'StateVersionOutput'>;

const formatValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

const Value = ({ name, value }: { readonly name: string; readonly value: unknown }) => (
  <div className={classes['value']}>
    <pre className={classes['text']} tabIndex={0} role="region" aria-label={`Value of ${name}`}>
      {formatValue(value)}
    </pre>
    <CopyButton text={formatValue(value)} label={`Copy the value of ${name}`} />
  </div>
);

/** A sensitive value is requested only when the person presses the button. It is not kept. */
const SensitiveValue = ({ id, name }: { readonly id: string; readonly name: string }) => {
  const reading = useChange({ mutationFn: () => readOutputValue(id), gcTime: 0 });
  if (reading.isSuccess) {
    return (
      <>
        <Value name={name} value={reading.data} />
        <Button size="compact-xs" variant="subtle" onClick={() => reading.reset()}>
          Hide
        </Button>
      </>
    );
  }
  const show = () =>
    reading.mutate(undefined, {
      onError: (error) => showToast({ kind: 'error', message: describeError(error) }),
    });
  return (
    <Button size="compact-sm" variant="default" loading={reading.isPending} onClick={show}>
      Show the sensitive value<VisuallyHidden> of {name}</VisuallyHidden>
    </Button>
  );
};

const COLUMNS: readonly DataColumn<Output>[] = [
  { header: 'Name', cell: ({ attributes }) => <code>{attributes.name}</code> },
  { header: 'Type', cell: ({ attributes }) => attributes.type },
  {
    header: 'Value',
    cell: ({ id, attributes: { name, sensitive, value } }) =>
      sensitive ? <SensitiveValue id={id} name={name} /> : <Value name={name} value={value} />,
  },
];

export const Outputs = ({ workspace }: { readonly workspace: string }) => {
  const query = useQuery(outputsQuery(workspace));
  return (
    <QueryState query={query} what="state">
      {(outputs) =>
        outputs.length === 0 ? (
          <Text size="sm" c="dimmed">
            The state has no outputs.
          </Text>
        ) : (
          <DataTable label="Outputs" isInCard rows={outputs} columns={COLUMNS} />
        )
      }
    </QueryState>
  );
};
