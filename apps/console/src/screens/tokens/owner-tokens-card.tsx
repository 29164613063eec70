import { Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { RequestedToken, tokensOfTeamQuery } from '../../api/tokens.js';
import { Card } from '../../components/card.js';
import { CreateButton } from '../../components/create-button.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PagedList } from '../../components/paged-list.js';
import { TokenTable, type ListedToken } from './token-table.js';

const loadDialogs = () => import('./token-dialogs.js');
const CreateTokenDialog = lazyComponent(loadDialogs, 'CreateTokenDialog');
const RevokeTokenDialog = lazyComponent(loadDialogs, 'RevokeTokenDialog');

type OwnerTokensProps = {
  readonly organization: string;
  readonly owner: RequestedToken['owner'];
  readonly name: string;
  /** The kind of the owner: `team`. */
  readonly what: string;
  /** The query of a pool's tokens has this type too. */
  readonly query: ReturnType<typeof tokensOfTeamQuery>;
  /** Shown instead of an empty table. */
  readonly empty: string;
  /** Shown instead of the list, before the reason. */
  readonly denial: string;
  readonly canManage: boolean;
  /** The people who may manage the tokens, for everybody else. */
  readonly reason: string;
  /** Returns what to do with a new token. */
  readonly getUse?: (secret: string) => ReactNode;
};

type ListProps = OwnerTokensProps & { readonly onRevoke: (row: ListedToken) => void };

const TokenList = ({ query, name, what, empty, onRevoke }: ListProps) => (
  <PagedList query={useInfiniteQuery(query)} what={what} empty={<Text size="sm">{empty}</Text>}>
    {(tokens) => (
      <TokenTable
        label={`Tokens of ${name}`}
        isOfOneOwner
        rows={tokens.map((token) => ({ id: token.id, owner: name, token }))}
        onRevoke={onRevoke}
      />
    )}
  </PagedList>
);

/** The tokens of a team or an agent pool. The list is read only for people who may manage them. */
export const OwnerTokensCard = (props: OwnerTokensProps) => {
  const { organization, owner, name, denial, canManage, reason, getUse } = props;
  const [isCreating, dialog] = useDisclosure(false);
  const [revoked, setRevoked] = useState<ListedToken | null>(null);
  return (
    <Card
      title="Tokens"
      actions={
        <CreateButton
          label="New token"
          size="xs"
          variant="default"
          isPermitted={canManage}
          reason={reason}
          onClick={dialog.open}
        />
      }
    >
      {canManage ? (
        <TokenList {...props} onRevoke={setRevoked} />
      ) : (
        <Text size="sm" c="dimmed">
          {denial} {reason}
        </Text>
      )}
      {isCreating && (
        <CreateTokenDialog
          organization={organization}
          title={`New token of ${name}`}
          fixedOwner={owner}
          {...(getUse ? { getUse } : {})}
          onClose={dialog.close}
        />
      )}
      {revoked && <RevokeTokenDialog organization={organization} row={revoked} onClose={() => setRevoked(null)} />}
    </Card>
  );
};
