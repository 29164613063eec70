import { Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { tokensOfPoolQuery } from '../../api/tokens.js';
import { Card } from '../../components/card.js';
import { CodeBlock } from '../../components/copy.js';
import { CreateButton } from '../../components/create-button.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PagedList } from '../../components/paged-list.js';
import { TokenTable, type ListedToken } from '../tokens/token-table.js';
import { explainPoolRefusal, type PoolProps } from './pool-rights.js';

const loadDialogs = () => import('../tokens/token-dialogs.js');
const CreateTokenDialog = lazyComponent(loadDialogs, 'CreateTokenDialog');
const RevokeTokenDialog = lazyComponent(loadDialogs, 'RevokeTokenDialog');

/** The first request of an executor: the runs that wait for its pool. */
const StartCommand = ({ pool, secret }: { readonly pool: string; readonly secret: string }) => (
  <Stack gap="xs">
    <Text size="sm">
      Start your agent or executor with these variables. The last line lists the runs that wait for it.
    </Text>
    <CodeBlock
      label="the start commands"
      code={[
        `export CADASTRE=${window.location.origin}`,
        `export POOL=${pool}`,
        `export TOKEN=${secret}`,
        `curl --silent --fail-with-body --header "Authorization: Bearer $TOKEN" "$CADASTRE/api/v2/agent-pools/$POOL/runs"`,
      ].join('\n')}
    />
  </Stack>
);

type ListProps = PoolProps & { readonly onRevoke: (row: ListedToken) => void };

const TokenList = ({ organization, pool, onRevoke }: ListProps) => {
  const query = useInfiniteQuery(tokensOfPoolQuery(organization, pool.id));
  const { name } = pool.attributes;
  return (
    <PagedList
      query={query}
      what="agent pool"
      empty={<Text size="sm">The pool has no token yet. Its agents need one.</Text>}
    >
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
};

/** The tokens of the agents of a pool. */
export const PoolTokens = (props: PoolProps) => {
  const { organization, pool } = props;
  const [isCreating, dialog] = useDisclosure(false);
  const [revoked, setRevoked] = useState<ListedToken | null>(null);
  const refusal = explainPoolRefusal(props);
  return (
    <Card
      title="Tokens"
      actions={
        <CreateButton
          label="New token"
          size="xs"
          variant="default"
          isPermitted={refusal === null}
          reason={refusal ?? ''}
          onClick={dialog.open}
        />
      }
    >
      {refusal === null ? (
        <TokenList {...props} onRevoke={setRevoked} />
      ) : (
        <Text size="sm" c="dimmed">
          You may not see the tokens of this pool. {refusal}
        </Text>
      )}
      {isCreating && (
        <CreateTokenDialog
          organization={organization}
          title={`New token of ${pool.attributes.name}`}
          fixedOwner={{ agentPool: pool.id }}
          getUse={(secret) => <StartCommand pool={pool.id} secret={secret} />}
          onClose={dialog.close}
        />
      )}
      {revoked && <RevokeTokenDialog organization={organization} row={revoked} onClose={() => setRevoked(null)} />}
    </Card>
  );
};
