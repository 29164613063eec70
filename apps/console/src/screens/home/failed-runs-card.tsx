import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { failedRunsQuery } from '../../api/home.js';
import { Card } from '../../components/card.js';
import { LongText } from '../../components/long-text.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { useMidnight } from '../../components/times.js';
import { More, Nothing, Row, type CardProps } from './home-cards.js';
import classes from './home.module.css';

const DAYS = 7;

const getStart = (midnight: string): string => {
  const day = new Date(midnight);
  day.setDate(day.getDate() - DAYS + 1);
  return day.toISOString();
};

/** The runs of the last days that failed, the newest first. */
export const FailedRunsCard = ({ organization }: CardProps) => {
  const since = getStart(useMidnight());
  const query = useQuery(failedRunsQuery(organization, since));
  return (
    <Card
      title={`Failed in the last ${DAYS} days`}
      actions={
        <TextLink to="/$organization/runs" params={{ organization }} search={{ result: 'failed', since }}>
          All failed runs
        </TextLink>
      }
    >
      <QueryState query={query} what="organization" loading={<LoadingLines count={3} height={16} />}>
        {({ rows, total }) =>
          rows.length === 0 ? (
            <Nothing>No run that you may read has failed.</Nothing>
          ) : (
            <>
              <ul className={classes['rows']}>
                {rows.map(({ id, workspace, message, createdAt }) => (
                  <Row key={id} time={createdAt}>
                    <Link
                      to="/$organization/workspaces/$workspace/runs/$run"
                      params={{ organization, workspace, run: id }}
                      className={classes['name']}
                    >
                      {workspace}
                    </Link>
                    <div className={classes['note']}>
                      <LongText text={message} />
                    </div>
                  </Row>
                ))}
              </ul>
              <More count={rows.length} total={total} what="run" />
            </>
          )
        }
      </QueryState>
    </Card>
  );
};
