import { Anchor, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { deliveriesQuery, type ListedDelivery, type ListedNotification } from '../../api/notifications.js';
import { useResourceNames } from '../../api/resource-names.js';
import { Dialog } from '../../components/dialog.js';
import { LongText } from '../../components/long-text.js';
import { PagedList } from '../../components/paged-list.js';
import { RowList } from '../../components/row-list.js';
import { Time } from '../../components/times.js';
import { DeliveryBadge } from './delivery-status.js';
import { formatTrigger } from './notification-words.js';
import classes from './deliveries-dialog.module.css';

type SubjectProps = { readonly organization: string; readonly workspace: string; readonly run: string | null };

/** The run or the workspace that a delivery is about. `workspace`: a name. */
const DeliverySubject = ({ organization, workspace, run }: SubjectProps) => (
  <Anchor
    size="sm"
    renderRoot={(props) =>
      run === null ? (
        <Link {...props} to="/$organization/workspaces/$workspace" params={{ organization, workspace }} />
      ) : (
        <Link
          {...props}
          to="/$organization/workspaces/$workspace/runs/$run"
          params={{ organization, workspace, run }}
        />
      )
    }
  >
    {run === null ? workspace : `${workspace}, run ${run}`}
  </Anchor>
);

type RowProps = {
  readonly organization: string;
  readonly delivery: ListedDelivery;
  /** The name of the workspace, if the person may read it and it still exists. */
  readonly workspace: string | undefined;
};

const DeliveryRow = ({ organization, delivery: { attributes }, workspace }: RowProps) => {
  const { trigger, status, attempts, response } = attributes;
  const next = attributes['next-attempt-at'];
  return (
    <li className={classes['delivery']}>
      <Group gap="xs">
        <DeliveryBadge status={status} code={response?.code ?? ''} />
        <b>{formatTrigger(trigger)}</b>
        <Time value={attributes['created-at']} />
      </Group>
      {workspace !== undefined && (
        <DeliverySubject organization={organization} workspace={workspace} run={attributes['run-id']} />
      )}
      <Text size="sm" c="dimmed" component="div">
        {attempts === 1 ? '1 attempt' : `${attempts} attempts`}
        {next !== null && (
          <>
            , the next <Time value={next} />
          </>
        )}
      </Text>
      {response && response.body !== '' && (
        <LongText text={response.body}>
          <code>{response.body}</code>
        </LongText>
      )}
    </li>
  );
};

type DeliveriesProps = { readonly organization: string; readonly notification: ListedNotification };

const Deliveries = ({ organization, notification: { id, attributes } }: DeliveriesProps) => {
  const query = useInfiniteQuery(deliveriesQuery(organization, id));
  const groups = query.data?.pages.map((page) => page.data.flatMap((each) => each.attributes['workspace-id'] ?? []));
  const names = useResourceNames(organization, groups ?? []);
  return (
    <PagedList
      query={query}
      what="notification"
      empty={<Text size="sm">Nothing has been sent yet. Send a test to try it.</Text>}
      more="Load earlier deliveries"
    >
      {(deliveries) => (
        <RowList label={`Deliveries of ${attributes.name}`} count={deliveries.length}>
          {deliveries.map((delivery) => (
            <DeliveryRow
              key={delivery.id}
              organization={organization}
              delivery={delivery}
              workspace={names.get(delivery.attributes['workspace-id'] ?? '')}
            />
          ))}
        </RowList>
      )}
    </PagedList>
  );
};

/** The notifications of the last 30 days, with the answers of the destination. */
export const DeliveriesDialog = ({ onClose, ...props }: DeliveriesProps & { readonly onClose: () => void }) => (
  <Dialog onClose={onClose} size="lg" title={`Deliveries of ${props.notification.attributes.name}`}>
    <Stack>
      <Text size="sm" c="dimmed">
        The last 30 days. The server tries a failed delivery again, up to eight times in about a day.
      </Text>
      <Deliveries {...props} />
    </Stack>
  </Dialog>
);
