import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { findVariable, variablesQuery, type ConsoleVariable, type VariableGroup } from '../../api/variables.js';
import { workspaceQuery, type Workspace } from '../../api/workspaces.js';
import { Card } from '../../components/card.js';
import { CreateButton } from '../../components/create-button.js';
import { VariableIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { EmptyState, QueryState } from '../../components/states.js';
import { VariableTable } from './variable-table.js';

const VariableDialog = lazyComponent(() => import('./variable-dialogs.js'), 'WorkspaceVariableDialog');
const DeleteVariableDialog = lazyComponent(() => import('./variable-dialogs.js'), 'DeleteWorkspaceVariableDialog');

const NO_CHANGE = 'You need a team with write access to the variables of this workspace.';

type OpenDialog =
  { readonly kind: 'create' } | { readonly kind: 'update' | 'delete'; readonly variable: ConsoleVariable } | null;

const CATEGORIES = [
  { category: 'terraform', title: 'Terraform variables', hint: 'Executors pass them to Terraform as input variables.' },
  {
    category: 'env',
    title: 'Environment variables',
    hint: 'For the environment of Terraform. Executors read those that are not sensitive; local plans ignore them.',
  },
] as const;

type ContentProps = {
  readonly workspace: Workspace;
  readonly groups: readonly VariableGroup[];
  readonly onOpen: (dialog: OpenDialog) => void;
};

const VariableCards = ({ workspace, groups, onOpen }: ContentProps) => {
  const canChange = workspace.attributes.permissions['can-update-variable'];
  const create = (
    <CreateButton
      label="New variable"
      isPermitted={canChange}
      reason={NO_CHANGE}
      onClick={() => onOpen({ kind: 'create' })}
    />
  );
  if (groups.length === 0) {
    return (
      <EmptyState icon={VariableIcon} title="There is no variable yet">
        <Text>
          Variables of this workspace, and those of the variable sets that apply to it, reach the executors of its runs.
        </Text>
        <div>{create}</div>
      </EmptyState>
    );
  }
  return (
    <Stack>
      <div>{create}</div>
      {CATEGORIES.map(({ category, title, hint }) => (
        <Card key={category} title={title}>
          <Text size="sm" c="dimmed">
            {hint}
          </Text>
          <VariableTable
            label={title}
            groups={groups.filter(({ effective }) => effective.variable.attributes.category === category)}
            canChange={canChange}
            onUpdate={(variable) => onOpen({ kind: 'update', variable })}
            onDelete={(variable) => onOpen({ kind: 'delete', variable })}
          />
        </Card>
      ))}
    </Stack>
  );
};

const Variables = ({ organization, workspace }: { readonly organization: string; readonly workspace: Workspace }) => {
  const query = useQuery(variablesQuery(organization, workspace.attributes.name, workspace.id));
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const common = { organization, workspace, onClose: () => setDialog(null) };
  return (
    <>
      <QueryState query={query} what="workspace">
        {(groups) => <VariableCards workspace={workspace} groups={groups} onOpen={setDialog} />}
      </QueryState>
      {dialog?.kind === 'create' && <VariableDialog {...common} variable={null} />}
      {dialog?.kind === 'update' && (
        <VariableDialog {...common} variable={findVariable(query.data ?? [], dialog.variable.id) ?? dialog.variable} />
      )}
      {dialog?.kind === 'delete' && <DeleteVariableDialog {...common} variable={dialog.variable} />}
    </>
  );
};

/** The variables of a workspace, and which of several with the same key is effective. */
export const WorkspaceVariablesScreen = () => {
  const { organization, workspace: name } = useParams({ from: '/$organization/workspaces/$workspace/variables' });
  const { data } = useQuery(workspaceQuery(organization, name));
  if (!data) return null;
  if (!data.data.attributes.permissions['can-read-variable']) {
    return (
      <EmptyState icon={VariableIcon} title="You may not read the variables">
        <Text>Ask an owner of the organization for a team with read access to the variables of this workspace.</Text>
      </EmptyState>
    );
  }
  return <Variables organization={organization} workspace={data.data} />;
};
