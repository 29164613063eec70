import { Button, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { agentPoolQuery } from '../../api/agent-pools.js';
import { SITE_POOLS } from '../../api/site-executors.js';
import { Card } from '../../components/card.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { PoolAgents } from '../agent-pool/pool-agents.js';
import { PoolTokens } from '../agent-pool/pool-tokens.js';
import { SitePage } from '../site/site-page.js';

const DeleteSitePoolDialog = lazyComponent(() => import('./site-pool-dialogs.js'), 'DeleteSitePoolDialog');

/** A site administrator may do everything with the pools of the site. */
const RIGHTS = { canManage: true, isOwner: true } as const;

/** A pool of the site: its executors and their tokens. */
export const SitePoolScreen = () => {
  const { pool: id } = useParams({ from: '/~site/executors/$pool' });
  const query = useQuery(agentPoolQuery(SITE_POOLS, id));
  const [isDeleting, dialog] = useDisclosure(false);
  return (
    <SitePage
      title={query.data?.attributes.name ?? 'Pool'}
      description="A pool of the site. Its executors plan and apply runs of every organization."
      error={query.error}
    >
      <QueryState query={query} what="pool" loading={<LoadingLines count={6} height={28} />}>
        {(pool) => (
          <Stack>
            <TextLink to="/~site/executors">All pools of the site</TextLink>
            <PoolAgents organization={SITE_POOLS} pool={pool} rights={RIGHTS} />
            <PoolTokens organization={SITE_POOLS} pool={pool} rights={RIGHTS} />
            <Card title="Deletion">
              <Group justify="space-between">
                <Text size="sm">The pool and its tokens are deleted.</Text>
                <Button color="red" variant="light" onClick={dialog.open}>
                  Delete the pool
                </Button>
              </Group>
            </Card>
            {isDeleting && <DeleteSitePoolDialog pool={pool} onClose={dialog.close} />}
          </Stack>
        )}
      </QueryState>
    </SitePage>
  );
};
