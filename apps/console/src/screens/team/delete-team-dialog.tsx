import { List, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { teamAccessQuery, type AccessMatrixRow } from '../../api/access.js';
import { isDenied } from '../../api/api-error.js';
import { listRows } from '../../api/pages.js';
import { useDeleteTeam } from '../../api/teams.js';
import { tokensOfTeamQuery } from '../../api/tokens.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { formatCount } from '../../components/counts.js';
import { reportAndClose } from '../../toasts.js';
import type { TeamProps } from './shown-team.js';

const SHOWN_NAMES = 5;

/** `the workspaces network, shop and 3 others`. */
const listNames = (rows: readonly AccessMatrixRow[], count: number): string => {
  const names = rows.slice(0, SHOWN_NAMES).map(({ attributes }) => attributes.name);
  const others = count - names.length;
  return others > 0 ? `${names.join(', ')} and ${others.toLocaleString()} more` : names.join(', ');
};

const LostAccess = ({ organization, team }: TeamProps) => {
  const { data, error } = useInfiniteQuery(teamAccessQuery(organization, team.id));
  if (isDenied(error)) return <>Its access to projects and workspaces ends. You may not see which they are.</>;
  if (!data) return <>Its access to projects and workspaces ends.</>;
  const count = data.pages[0]?.meta.pagination['total-count'] ?? 0;
  if (count === 0) return <>It has no access to single projects or workspaces.</>;
  return (
    <>
      Its access to {formatCount(count, 'project or workspace', 'projects and workspaces')} ends:{' '}
      {listNames(listRows(data), count)}.
    </>
  );
};

const LostTokens = ({ organization, team }: TeamProps) => {
  const { data } = useInfiniteQuery(tokensOfTeamQuery(organization, team.id));
  const count = data?.pages[0]?.meta.pagination['total-count'];
  if (count === 0) return <>It has no tokens.</>;
  return <>{count === undefined ? 'Its tokens' : `Its ${formatCount(count, 'token', 'tokens')}`} end at once.</>;
};

/** Names what goes away with a team. */
export const DeleteTeamDialog = ({ organization, team, onClose }: TeamProps & { readonly onClose: () => void }) => {
  const { name, 'users-count': members } = team.attributes;
  const navigate = useNavigate();
  const deletion = useDeleteTeam(organization, team.id);
  const leave = () => {
    onClose();
    void navigate({ to: '/$organization/teams', params: { organization } });
  };
  return (
    <ConfirmDialog
      title={`Delete the team ${name}`}
      action="Delete"
      typed={name}
      change={deletion}
      onConfirm={() => deletion.mutate(undefined, reportAndClose(`The team ${name} is deleted.`, leave))}
      onClose={onClose}
    >
      <Stack gap="xs">
        <Text size="sm">You cannot undo this.</Text>
        <List size="sm" spacing={4}>
          <List.Item>
            {members === 0
              ? 'It has no members.'
              : `${formatCount(members, 'member loses', 'members lose')} its access. Memberships of the organization and of other teams stay.`}
          </List.Item>
          <List.Item>
            <LostAccess organization={organization} team={team} />
          </List.Item>
          <List.Item>
            <LostTokens organization={organization} team={team} />
          </List.Item>
          <List.Item>Its workload identities and its notifications are deleted.</List.Item>
        </List>
      </Stack>
    </ConfirmDialog>
  );
};
