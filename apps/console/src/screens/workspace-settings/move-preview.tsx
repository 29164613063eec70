import { Alert, List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useResourceNames } from '../../api/resource-names.js';
import { moveEffectQuery, type MoveEffect } from '../../api/workspace-move.js';
import type { Workspace } from '../../api/workspaces.js';
import { EXECUTION_MODES } from '../../components/execution-modes.js';
import { QueryState } from '../../components/states.js';

type MovePreviewProps = { readonly organization: string; readonly workspace: Workspace; readonly to: string };
type MovedAccesses = NonNullable<MoveEffect['accesses']>;

const describeAccess = ({ before, after, own }: MovedAccesses[number]): string =>
  `${before ?? 'no access'} → ${after ?? 'no access'} through the project${own === null ? '' : `, and keeps ${own} access to this workspace`}`;

const Accesses = ({ organization, accesses }: { readonly organization: string; readonly accesses: MovedAccesses }) => {
  const names = useResourceNames(organization, [accesses.map(({ team }) => team)]);
  return accesses.map((access) => (
    <List.Item key={access.team}>
      Team <strong>{names.get(access.team) ?? access.team}</strong>: {describeAccess(access)}
    </List.Item>
  ));
};

const listOtherEffects = (
  { attributes }: Workspace,
  { project, target, variableSets }: MoveEffect,
): readonly string[] => {
  const mode = project.attributes['default-execution-mode'];
  const changesMode = !attributes['setting-overwrites']['execution-mode'] && attributes['execution-mode'] !== mode;
  return [
    ...(changesMode
      ? [`Execution mode: ${EXECUTION_MODES[attributes['execution-mode']].label} → ${EXECUTION_MODES[mode].label}`]
      : []),
    ...(variableSets?.left.length ? [`Variable sets that no longer apply: ${variableSets.left.join(', ')}`] : []),
    ...(variableSets?.joined.length ? [`Variable sets that apply then: ${variableSets.joined.join(', ')}`] : []),
    ...(target.fixedKeys.length > 0
      ? [`Tags that only the project ${target.name} sets: ${target.fixedKeys.join(', ')}`]
      : []),
  ];
};

const Effect = ({
  organization,
  workspace,
  effect,
}: Omit<MovePreviewProps, 'to'> & { readonly effect: MoveEffect }) => {
  const { accesses, target } = effect;
  const others = listOtherEffects(workspace, effect);
  const changesNothing = accesses?.length === 0 && others.length === 0;
  return (
    <Alert color={target.canMove ? 'blue' : 'yellow'} variant="light" role="status" title={`A move to ${target.name}`}>
      {!target.canMove && <Text size="sm">You may not move workspaces into this project.</Text>}
      {changesNothing && <Text size="sm">No team gets other access, and no default or variable set changes.</Text>}
      <List size="sm">
        {accesses && <Accesses organization={organization} accesses={accesses} />}
        {others.map((text) => (
          <List.Item key={text}>{text}</List.Item>
        ))}
      </List>
      {accesses === null && <Text size="sm">You may not see the access of teams to both projects. It can change.</Text>}
    </Alert>
  );
};

/** The effect of a move to another project. */
export const MovePreview = ({ to, ...props }: MovePreviewProps) => {
  const query = useQuery(moveEffectQuery(props.organization, props.workspace, to));
  return (
    <QueryState query={query} what="project">
      {(effect) => <Effect {...props} effect={effect} />}
    </QueryState>
  );
};
