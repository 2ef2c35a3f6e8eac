-- Fills schema.sql with the same rows for the same size, every time:
--   psql -v customers=200 -f generate.sql
-- Everything else follows from the number of customers: five orders each, two lines an order.
\if :{?customers}
\else
\set customers 200
\endif

INSERT INTO countries VALUES (1, 'VN', 'Việt Nam'), (2, 'FR', 'France'), (3, 'DE', 'Deutschland'), (4, 'PT', 'Portugal');

INSERT INTO customers
SELECT n, format('customer%s@mail.example', n),
       (ARRAY['Ada', 'Bảo', 'Chloé', 'Dũng', 'Elena', 'Fatima', 'Günther'])[n % 7 + 1] || ' ' ||
       (ARRAY['Nguyễn', 'Martin', 'Schmidt', 'Silva', 'Okafor'])[n % 5 + 1] || ' ' || n,
       (ARRAY['bronze', 'silver', 'gold'])[n % 3 + 1]::tier,
       CASE WHEN n % 11 = 0 THEN NULL ELSE n % 4 + 1 END,
       n % 2 = 0,
       CASE WHEN n % 10 = 0 THEN n / 10 END,
       timestamptz '2025-01-01 08:00:00+00' + n * interval '37 minutes'
FROM generate_series(1, :customers) AS n;

INSERT INTO addresses
SELECT 2 * n + k, n, format('%s Market Street', 2 * n + k),
       (ARRAY['Huế', 'Lyon', 'Bonn', 'Porto'])[(n + k) % 4 + 1],
       date '2025-02-01' + n % 300 + k
FROM generate_series(1, :customers) AS n, generate_series(0, 1) AS k
WHERE k = 0 OR n % 3 = 0;

INSERT INTO categories VALUES (1, 'electronics', 'Electronics'), (2, 'books', 'Books'),
    (3, 'garden', 'Garden'), (4, 'music', 'Music'), (5, 'empty', 'Nothing here yet');

INSERT INTO products
SELECT n, format('SKU-%s', lpad(n::text, 6, '0')), 'Product ' || n, n % 4 + 1,
       (n * 7919 % 100000) / 100.0 + 1,
       CASE WHEN n % 5 <> 0 THEN (n % 97) / 8.0 END,
       CASE n % 3 WHEN 0 THEN '{}'::text[] WHEN 1 THEN ARRAY['new'] ELSE ARRAY['sale', 'a "quoted", tag'] END,
       CASE WHEN n % 4 <> 0 THEN jsonb_build_object('warranty_months', n % 36, 'serial', 12345678901234567890 + n,
                                                    'size', jsonb_build_array(n, n / 2.0, NULL)) END,
       CASE WHEN n % 6 = 0 THEN decode(lpad(to_hex(n), 8, '0') || '00ff', 'hex') END
FROM generate_series(1, greatest(20, :customers / 10)) AS n;

INSERT INTO orders
SELECT 5 * (n - 1) + k, n,
       timestamptz '2026-01-01 00:00:00+00' + (n * 131 % 150) * interval '1 day' + k * interval '5 hours 13 minutes',
       (ARRAY['pending_payment', 'processing', 'shipped', 'delivered', 'cancelled'])[(n * 3 + k) % 5 + 1]::order_status,
       to_char((n * 1009 + k * 97) % 500000 / 100.0, 'FM99990.00'),
       CASE WHEN (n + k) % 4 = 0 THEN 'leave at the "back" door' || E'\n' || 'tab' || E'\t' || 'end' END
FROM generate_series(1, :customers) AS n, generate_series(1, 5) AS k;

INSERT INTO order_lines
SELECT o.id, line, (o.id * 13 + line * 7) % (SELECT count(*) FROM products) + 1, o.id % 4 + line,
       (o.id * 37 + line) % 20000 / 100.0
FROM orders AS o, generate_series(1, 2) AS line;

INSERT INTO students SELECT n, 'Student ' || n FROM generate_series(1, greatest(10, :customers / 10)) AS n;
INSERT INTO courses SELECT n, 'Course ' || n FROM generate_series(1, 12) AS n;
INSERT INTO enrolments
SELECT s.id, c.id, date '2026-01-10' + (s.id + c.id) % 60,
       CASE WHEN (s.id + c.id) % 3 <> 0 THEN (s.id * 7 + c.id * 3) % 100 / 10.0 END
FROM students AS s, courses AS c WHERE (s.id * 5 + c.id) % 4 = 0;

INSERT INTO users SELECT n, 'user' || n FROM generate_series(1, greatest(10, :customers / 10)) AS n;
INSERT INTO teams SELECT n, 'Team ' || n FROM generate_series(1, 9) AS n;
INSERT INTO memberships
SELECT u.id, t.id, CASE WHEN (u.id + t.id) % 5 = 0 THEN 'owner' ELSE 'member' END
FROM users AS u, teams AS t WHERE (u.id + 2 * t.id) % 3 = 0;

INSERT INTO organisations VALUES ('FPT', 'FPT Corporation'), ('ACME', 'Acme Works');
INSERT INTO departments
SELECT o.code, d, initcap(d) FROM organisations AS o, unnest(ARRAY['engineering', 'eng', 'sales']) AS d;
INSERT INTO squads
SELECT organisation, code, s, initcap(s) FROM departments, unnest(ARRAY['platform', 'backend']) AS s;
INSERT INTO members
SELECT format('%s%s', lower(left(organisation, 1)) || lower(left(department, 3)) || lower(left(code, 2)), lpad(n::text, 3, '0')) ||
       '-' || md5(organisation || department || code || n)::char(4),
       organisation, department, code, 'Member ' || n
FROM squads, generate_series(1, greatest(3, :customers / 100)) AS n;

INSERT INTO players
SELECT 'player' || n, date '2026-02-01' + n % 90, 1000 + (n * 17 % 900) + (n % 8) / 8.0
FROM generate_series(1, greatest(12, :customers / 10)) AS n;
INSERT INTO games
SELECT md5('game' || n)::uuid, (ARRAY['Dustbowl', 'Harbour', 'Ruins'])[n % 3 + 1],
       timestamp '2026-03-01 12:00:00' + n * interval '1 hour 0.25 second',
       CASE WHEN n % 2 = 0 THEN n % 50 * interval '1 minute' END
FROM generate_series(1, greatest(8, :customers / 20)) AS n;
INSERT INTO game_players
SELECT g.id, p.username, CASE WHEN g.length IS NOT NULL THEN row_number() OVER (PARTITION BY g.id ORDER BY md5(g.id || p.username)) END
FROM games AS g, players AS p WHERE get_byte(decode(md5(g.id || p.username), 'hex'), 0) % 4 = 0;

INSERT INTO visit_counters SELECT n, 1487 + n * 13 FROM generate_series(0, 9) AS n;
ANALYZE;
