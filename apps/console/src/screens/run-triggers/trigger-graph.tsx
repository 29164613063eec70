import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { layOutTriggers, NODE_HEIGHT, NODE_WIDTH, type DrawnTrigger } from './trigger-layout.js';
import classes from './trigger-graph.module.css';

type TriggerGraphProps = { readonly organization: string; readonly edges: readonly DrawnTrigger[] };

/** Workspaces in the order in which their applies start runs. The lines of the one under the pointer or focus stand out. */
export const TriggerGraph = ({ organization, edges }: TriggerGraphProps) => {
  const { width, height, nodes, lines } = useMemo(() => layOutTriggers(edges), [edges]);
  const [active, setActive] = useState<string | null>(null);
  const leave = (): void => setActive(null);
  return (
    // The keyboard scrolls a graph that is wider than the window.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <section className={classes['scroll']} aria-label="Graph of run triggers" tabIndex={0}>
      <div className={classes['graph']} style={{ width, height }}>
        <svg width={width} height={height} aria-hidden="true" focusable="false">
          <defs>
            <marker
              id="trigger-arrow"
              viewBox="0 0 8 8"
              refX="8"
              refY="4"
              markerWidth="8"
              markerHeight="8"
              orient="auto"
            >
              <path d="M0 0 L8 4 L0 8 Z" className={classes['arrow']} />
            </marker>
          </defs>
          {lines.map(({ id, source, target, path }) => (
            <path
              key={id}
              d={path}
              className={classes['line']}
              data-active={active === source || active === target || undefined}
              markerEnd="url(#trigger-arrow)"
            />
          ))}
        </svg>
        <ul className={classes['nodes']}>
          {nodes.map(({ name, left, top }) => (
            <li key={name} className={classes['node']} style={{ left, top, width: NODE_WIDTH, height: NODE_HEIGHT }}>
              <Link
                to="/$organization/workspaces/$workspace/runs"
                params={{ organization, workspace: name }}
                className={classes['link']}
                title={name}
                onMouseEnter={() => setActive(name)}
                onMouseLeave={leave}
                onFocus={() => setActive(name)}
                onBlur={leave}
              >
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
};
