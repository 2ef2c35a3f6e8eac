-- A shop as PostgreSQL would hold it: normalised, one table an entity. Together the tables show
-- every pattern that map.json and plans/ fold: see README.md beside this file.
CREATE TYPE tier AS ENUM ('bronze', 'silver', 'gold');
CREATE TYPE order_status AS ENUM ('pending_payment', 'processing', 'shipped', 'delivered', 'cancelled');
CREATE DOMAIN email_address AS text CHECK (VALUE LIKE '%@%');

CREATE TABLE countries (
    id integer PRIMARY KEY,
    code char(2) NOT NULL UNIQUE,
    name text NOT NULL
);

CREATE TABLE customers (
    id integer PRIMARY KEY,
    email email_address NOT NULL UNIQUE,
    full_name text NOT NULL,
    tier tier NOT NULL,
    country_id integer REFERENCES countries,
    newsletter boolean NOT NULL DEFAULT false,
    referred_by integer REFERENCES customers,
    created_at timestamptz NOT NULL
);

CREATE TABLE addresses (
    id integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES customers,
    line1 text NOT NULL,
    city text NOT NULL,
    valid_from date NOT NULL
);
CREATE INDEX ON addresses (customer_id);

CREATE TABLE categories (
    id integer PRIMARY KEY,
    slug text NOT NULL UNIQUE,
    name text NOT NULL
);

CREATE TABLE products (
    id integer PRIMARY KEY,
    sku text NOT NULL UNIQUE,
    name text NOT NULL,
    category_id integer NOT NULL REFERENCES categories,
    price numeric(10, 2) NOT NULL,
    weight_kg real,
    tags text[] NOT NULL DEFAULT '{}',
    details jsonb,
    picture bytea
);

-- total is text: an old mistake that plan 0003 mends after the fold.
CREATE TABLE orders (
    id integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES customers,
    placed_at timestamptz NOT NULL,
    status order_status NOT NULL,
    total text NOT NULL,
    note text
);
CREATE INDEX ON orders (customer_id);

CREATE TABLE order_lines (
    order_id integer NOT NULL REFERENCES orders,
    line_no integer NOT NULL,
    product_id integer NOT NULL REFERENCES products,
    quantity integer NOT NULL,
    unit_price numeric(10, 2) NOT NULL,
    PRIMARY KEY (order_id, line_no)
);

-- Many to many, folded both ways.
CREATE TABLE students (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE courses (id integer PRIMARY KEY, title text NOT NULL);
CREATE TABLE enrolments (
    student_id integer NOT NULL REFERENCES students,
    course_id integer NOT NULL REFERENCES courses,
    enrolled_on date NOT NULL,
    grade numeric(3, 1),
    PRIMARY KEY (student_id, course_id)
);

-- Many to many, folded one way; plan 0006 adds the other.
CREATE TABLE users (id integer PRIMARY KEY, handle text NOT NULL UNIQUE);
CREATE TABLE teams (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE memberships (
    user_id integer NOT NULL REFERENCES users,
    team_id integer NOT NULL REFERENCES teams,
    role text NOT NULL,
    PRIMARY KEY (user_id, team_id)
);

-- A tree, folded into hierarchical sort keys.
CREATE TABLE organisations (code text PRIMARY KEY, name text NOT NULL);
CREATE TABLE departments (
    organisation text NOT NULL REFERENCES organisations,
    code text NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (organisation, code)
);
CREATE TABLE squads (
    organisation text NOT NULL,
    department text NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (organisation, department, code),
    FOREIGN KEY (organisation, department) REFERENCES departments
);
CREATE TABLE members (
    id text PRIMARY KEY,
    organisation text NOT NULL,
    department text NOT NULL,
    squad text NOT NULL,
    full_name text NOT NULL,
    FOREIGN KEY (organisation, department, squad) REFERENCES squads
);

CREATE TABLE players (username text PRIMARY KEY, joined_on date NOT NULL, rating double precision NOT NULL);
CREATE TABLE games (
    id uuid PRIMARY KEY,
    arena text NOT NULL,
    opened_at timestamp NOT NULL,
    length interval
);
CREATE TABLE game_players (
    game_id uuid NOT NULL REFERENCES games,
    username text NOT NULL REFERENCES players,
    place integer,
    PRIMARY KEY (game_id, username)
);

-- One counter, spread over shards so that no single key takes every write.
CREATE TABLE visit_counters (shard integer PRIMARY KEY, visits bigint NOT NULL);
