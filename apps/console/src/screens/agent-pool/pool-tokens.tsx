import { Stack, Text } from '@mantine/core';
import { tokensOfPoolQuery } from '../../api/tokens.js';
import { CodeBlock } from '../../components/copy.js';
import { OwnerTokensCard } from '../tokens/owner-tokens-card.js';
import { explainPoolRefusal, type PoolProps } from './pool-rights.js';

/** Starts the executor of Cadastre. The last lines are the first request of another one. */
const StartCommand = ({ pool, secret }: { readonly pool: string; readonly secret: string }) => (
  <Stack gap="xs">
    <Text size="sm">
      Start an executor on a machine that has the programs of Cadastre, with the token in its environment:
    </Text>
    <CodeBlock
      label="the command of the executor"
      code={[
        `export CADASTRE_EXECUTOR_TOKEN=${secret}`,
        `cadastre executor --server ${window.location.origin} --work /var/lib/cadastre-executor`,
      ].join('\n')}
    />
    <Text size="sm">If you have written an executor, these lines list the runs that wait for it:</Text>
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

/** The tokens of the agents of a pool. */
export const PoolTokens = (props: PoolProps) => {
  const { organization, pool } = props;
  const refusal = explainPoolRefusal(props);
  return (
    <OwnerTokensCard
      organization={organization}
      owner={{ agentPool: pool.id }}
      name={pool.attributes.name}
      what="agent pool"
      query={tokensOfPoolQuery(organization, pool.id)}
      empty="The pool has no token yet. Its agents need one."
      denial="You may not see the tokens of this pool."
      canManage={refusal === null}
      reason={refusal ?? ''}
      getUse={(secret) => <StartCommand pool={pool.id} secret={secret} />}
    />
  );
};
