import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { setVariablesQuery, type VariableSetDocument } from '../../api/variable-sets.js';
import type { ConsoleVariable } from '../../api/variables.js';
import { Card } from '../../components/card.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LongText } from '../../components/long-text.js';
import type { RowActionsProps } from '../../components/row-actions.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { NO_SET_CHANGE } from '../variable-sets/variable-set-words.js';

const SetVariableDialog = lazyComponent(() => import('./set-variable-dialogs.js'), 'SetVariableDialog');
const DeleteSetVariableDialog = lazyComponent(() => import('./set-variable-dialogs.js'), 'DeleteSetVariableDialog');

type CardProps = {
  readonly organization: string;
  readonly document: VariableSetDocument;
  readonly canChange: boolean;
};
type OpenDialog =
  { readonly kind: 'create' } | { readonly kind: 'update' | 'delete'; readonly variable: ConsoleVariable } | null;

const describeKind = ({ attributes: { category, hcl } }: ConsoleVariable): string => {
  if (category === 'env') return 'Environment';
  return hcl ? 'Terraform, HCL' : 'Terraform';
};

const COLUMNS: readonly DataColumn<ConsoleVariable>[] = [
  {
    header: 'Key',
    cell: ({ attributes: { key, description } }) => (
      <>
        <code>{key}</code>
        {description && (
          <Text size="sm" c="dimmed" component="div">
            <LongText text={description} />
          </Text>
        )}
      </>
    ),
  },
  {
    header: 'Value',
    cell: ({ attributes: { sensitive, value } }) => {
      if (sensitive) return <Text size="sm">Sensitive: nobody can read it</Text>;
      return value ? <LongText text={value} /> : <Text size="sm">Empty</Text>;
    },
  },
  { header: 'Kind', cell: describeKind },
];

/** The variables of the set. */
export const VariablesCard = ({ organization, document, canChange }: CardProps) => {
  const { id } = document.data;
  const query = useQuery(setVariablesQuery(organization, id));
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const listActions = (variable: ConsoleVariable): RowActionsProps => ({
    name: variable.attributes.key,
    actions: [
      { action: 'Change', onClick: () => setDialog({ kind: 'update', variable }) },
      { action: 'Delete', isDangerous: true, onClick: () => setDialog({ kind: 'delete', variable }) },
    ],
  });
  const create = (
    <CreateButton
      label="New variable"
      size="compact-sm"
      variant="default"
      isPermitted={canChange}
      reason={NO_SET_CHANGE}
      onClick={() => setDialog({ kind: 'create' })}
    />
  );
  const common = { organization, set: id, onClose: () => setDialog(null) };
  const find = (variable: ConsoleVariable) => query.data?.find((each) => each.id === variable.id) ?? variable;
  return (
    <Card title="Variables" actions={create}>
      <QueryState query={query} what="variable set" loading={<LoadingLines count={3} height={24} />}>
        {(variables) =>
          variables.length === 0 ? (
            <Text size="sm">The set has no variable yet.</Text>
          ) : (
            <DataTable
              label="Variables"
              rows={variables}
              columns={COLUMNS}
              actions={canChange ? listActions : undefined}
              isInCard
            />
          )
        }
      </QueryState>
      {dialog?.kind === 'create' && <SetVariableDialog {...common} variable={null} />}
      {dialog?.kind === 'update' && <SetVariableDialog {...common} variable={find(dialog.variable)} />}
      {dialog?.kind === 'delete' && <DeleteSetVariableDialog {...common} variable={dialog.variable} />}
    </Card>
  );
};
