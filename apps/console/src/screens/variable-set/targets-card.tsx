import { Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { VariableSetDocument } from '../../api/variable-sets.js';
import { workspaceCountQuery } from '../../api/workspaces.js';
import { Card } from '../../components/card.js';
import { formatCount } from '../../components/counts.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { lazyComponent } from '../../components/lazy-component.js';
import type { RowActionsProps } from '../../components/row-actions.js';
import { TextLink } from '../../components/text-link.js';
import { NO_SET_CHANGE } from '../variable-sets/variable-set-words.js';
import type { SetTarget } from './target-dialogs.js';

const AddTargetDialog = lazyComponent(() => import('./target-dialogs.js'), 'AddTargetDialog');
const RemoveTargetDialog = lazyComponent(() => import('./target-dialogs.js'), 'RemoveTargetDialog');

type CardProps = {
  readonly organization: string;
  readonly document: VariableSetDocument;
  readonly canChange: boolean;
};

const listTargets = ({ data, included = [] }: VariableSetDocument): readonly SetTarget[] => [
  ...data.relationships.projects.data.map(({ id }): SetTarget => {
    const project = included.find((each) => each.type === 'projects' && each.id === id);
    const attributes = project?.type === 'projects' ? project.attributes : null;
    return { id, kind: 'projects', name: attributes?.name ?? id, reach: attributes?.['workspace-count'] ?? 0 };
  }),
  ...data.relationships.workspaces.data.map(({ id }): SetTarget => {
    const workspace = included.find((each) => each.type === 'workspaces' && each.id === id);
    return {
      id,
      kind: 'workspaces',
      name: workspace?.type === 'workspaces' ? workspace.attributes.name : id,
      reach: 1,
    };
  }),
];

const listColumns = (organization: string): readonly DataColumn<SetTarget>[] => [
  {
    header: 'Name',
    cell: ({ id, kind, name }) =>
      kind === 'projects' ? (
        <TextLink to="/$organization/projects/$project" params={{ organization, project: id }}>
          {name}
        </TextLink>
      ) : (
        <TextLink to="/$organization/workspaces/$workspace" params={{ organization, workspace: name }}>
          {name}
        </TextLink>
      ),
  },
  {
    header: 'Reaches',
    cell: ({ kind, reach }) =>
      kind === 'projects' ? `${formatCount(reach, 'workspace')} of the project, and later ones` : 'This workspace',
  },
];

type ReachProps = Pick<CardProps, 'organization' | 'document'> & { readonly targets: readonly SetTarget[] };

/** The effect of the set, counted in workspaces that the person may read. */
const Reach = ({ organization, document, targets }: ReachProps) => {
  const { global, priority } = document.data.attributes;
  const { data: all } = useQuery({ ...workspaceCountQuery(organization), enabled: global });
  const reach = targets.reduce((sum, target) => sum + target.reach, 0);
  const workspaces = global
    ? `all ${formatCount(all ?? 0, 'workspace')} that you may read, and later ones`
    : `at most ${formatCount(reach, 'workspace')}`;
  return (
    <Text size="sm" c="dimmed">
      The set reaches {workspaces}.{' '}
      {priority
        ? 'It has priority: its variables override those of the workspaces with the same key.'
        : 'A variable of a workspace with the same key overrides the one of the set.'}
    </Text>
  );
};

/** The workspaces and projects to which the set is applied. */
export const TargetsCard = ({ organization, document, canChange }: CardProps) => {
  const [isAdding, dialog] = useDisclosure(false);
  const [removed, setRemoved] = useState<SetTarget | null>(null);
  const { id, attributes } = document.data;
  const targets = listTargets(document);
  const listActions = (target: SetTarget): RowActionsProps => ({
    name: target.name,
    actions: [{ action: 'Remove', isDangerous: true, onClick: () => setRemoved(target) }],
  });
  const add = (
    <CreateButton
      label="Apply to more"
      size="compact-sm"
      variant="default"
      isPermitted={canChange && !attributes.global}
      reason={attributes.global ? 'The set applies to all workspaces.' : NO_SET_CHANGE}
      onClick={dialog.open}
    />
  );
  const common = { organization, set: id, setName: attributes.name };
  return (
    <Card title="Applies to" actions={add}>
      <Reach organization={organization} document={document} targets={targets} />
      {targets.length > 0 && (
        <DataTable
          label="Where the set applies"
          rows={targets}
          columns={listColumns(organization)}
          actions={canChange ? listActions : undefined}
          isInCard
        />
      )}
      {isAdding && <AddTargetDialog {...common} onClose={dialog.close} />}
      {removed && <RemoveTargetDialog {...common} target={removed} onClose={() => setRemoved(null)} />}
    </Card>
  );
};
