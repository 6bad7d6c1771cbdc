BEGIN TRANSACTION;
CREATE TABLE access_tokens (
	id VARCHAR(36) NOT NULL, 
	identity_id VARCHAR(36) NOT NULL, 
	auth_method VARCHAR(32) NOT NULL, 
	client_secret_id VARCHAR(36), 
	ttl INTEGER NOT NULL, 
	max_ttl INTEGER NOT NULL, 
	period INTEGER NOT NULL, 
	num_uses INTEGER NOT NULL, 
	num_uses_limit INTEGER NOT NULL, 
	trusted_ips JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	renewed_at BIGINT, 
	expires_at BIGINT, 
	CONSTRAINT pk_access_tokens PRIMARY KEY (id), 
	CONSTRAINT fk_access_tokens_client_secret_id_client_secrets FOREIGN KEY(client_secret_id) REFERENCES client_secrets (id) ON DELETE CASCADE, 
	CONSTRAINT fk_access_tokens_identity_id_identities FOREIGN KEY(identity_id) REFERENCES identities (id) ON DELETE CASCADE
);
INSERT INTO "access_tokens" VALUES('ab5e4be9-d5aa-4969-aab1-790a6fa40a1d','efe3312b-8210-4e18-a15a-56dc44615f97','universal-auth','231467a0-9cf8-46b6-baa0-e3b0459bbe08',2592000,2592000,0,0,0,'["0.0.0.0/0", "::/0"]',1795605161201,NULL,1798197161201);
CREATE TABLE acme_accounts (
	authority_id VARCHAR(36) NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	url TEXT, 
	eab_key_id TEXT, 
	eab_secret BLOB, 
	private_key BLOB NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_acme_accounts PRIMARY KEY (authority_id), 
	CONSTRAINT fk_acme_accounts_authority_id_certificate_authorities FOREIGN KEY(authority_id) REFERENCES certificate_authorities (id) ON DELETE CASCADE, 
	CONSTRAINT fk_acme_accounts_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE TABLE acme_challenges (
	token VARCHAR(128) NOT NULL, 
	request_id VARCHAR(36) NOT NULL, 
	key_authorization TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_acme_challenges PRIMARY KEY (token), 
	CONSTRAINT fk_acme_challenges_request_id_certificate_requests FOREIGN KEY(request_id) REFERENCES certificate_requests (id) ON DELETE CASCADE
);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0010');
CREATE TABLE app_connections (
	id VARCHAR(36) NOT NULL, 
	organization_id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36), 
	name VARCHAR(64) NOT NULL, 
	description TEXT, 
	app VARCHAR(64) NOT NULL, 
	method VARCHAR(64) NOT NULL, 
	credentials BLOB NOT NULL, 
	credentials_hash VARCHAR(64) NOT NULL, 
	shown JSON NOT NULL, 
	version INTEGER NOT NULL, 
	is_auto_rotation_enabled BOOLEAN NOT NULL, 
	rotation_interval_days INTEGER, 
	rotation_hour INTEGER, 
	rotation_minute INTEGER, 
	rotation_status VARCHAR(16), 
	last_rotation_message TEXT, 
	next_rotation_at BIGINT, 
	rotation_held_until BIGINT, 
	retiring BLOB, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_app_connections PRIMARY KEY (id), 
	CONSTRAINT fk_app_connections_organization_id_organizations FOREIGN KEY(organization_id) REFERENCES organizations (id) ON DELETE CASCADE, 
	CONSTRAINT fk_app_connections_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
INSERT INTO "app_connections" VALUES('c281061f-1897-47b5-bb74-de42f0c49bc3','0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'gitlab',NULL,'gitlab','access-token',X'01A672A90DB1824A7EBC5D1A1FE373169100000001FCF71341813BF90F52DC32BD6228726B1A9A92CD52E05A14CF92188D34CDA62CF7A01B9F5607729F057488BEB3E15C22BE1C30EB84DA9E9DAAF7A826D73A709E8235EE7A82390BC3291F2DF28D636555AEB9596AF3CF1704F5','bec82a7c41e54fcbfbb9c9b4c9fcd2ee6034997b256b4824bcf362e7add590bc','{"accessTokenType": "personal"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795605161475,1795605161475);
INSERT INTO "app_connections" VALUES('3ab9d852-76d7-4631-8860-57297b541698','0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'gitlab-hidden',NULL,'gitlab','access-token',X'01A672A90DB1824A7EBC5D1A1FE37316910000000125FEDF07E31712DD121D7B21691EC86AC45F54B77D79A70C48DDE6245A555D3A18C338B827C9F4DA0E5DDA6C2B44AE63852B1505B2DA42D5A012B0F80A67B227F7F1D9599405E62E0AAA956B03A328AA067CC26CC7AA48AE01','ea5f2cf67e946c139c54fe91d9927a16e76fa5e7439a476299a8f6f2f9cfdd38','{"accessTokenType": "personal"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795605161882,1795605161882);
INSERT INTO "app_connections" VALUES('c6588bf6-844c-4306-8f1f-d061b4ee0ed4','0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'codehost',NULL,'codehost','pat',X'01A672A90DB1824A7EBC5D1A1FE3731691000000013C57FD1C4D6C355C4E265C3CB339D1C7C8BF5E618D27B77373E996B860807FA7245B57293CABA5536F56125630F1ECAEA73F5701A11DC751470A9AA363B24367D4B0','857daec0399a6fdea5bd2da84d59352ce73e45744e4ef38bcd8b01d8fffe7959','{}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795605162167,1795605162167);
INSERT INTO "app_connections" VALUES('d5008c90-6449-4d7c-8871-2bf795f2eb62','0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'azure',NULL,'azure-key-vault','client-secret',X'01A672A90DB1824A7EBC5D1A1FE3731691000000015654CCF2B4B8936C789F4F1DC3E1C3CD7F1BEA975A4DCA007B7F93D91DE215E6521E76209FBD18356A176119EA2A88B0BA25DFD1DFCB8AC8ADAA6EB1384349F414706985ADC17560BABAD9E31219A0A2062A5CACAC01C774DE65BC12DE5336B3A753804B97210E4A71714F0DE4FDC401A0E2BEABC9811FF0DFDF2046EA74649B8144518BBB5128F289764A75B5B8C388725AE792ABB2BAD395E691273AD0C0EA67242CA069F02B80DD397F21','68ba41d4bc102a6bb3b8e41ea6b6ba9dccab9a4dca632d6e1ccff46bba773171','{"tenantId": "11111111-2222-4333-8444-555555555555", "clientId": "66666666-7777-4888-8999-aaaaaaaaaaaa"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795605162446,1795605162446);
INSERT INTO "app_connections" VALUES('ac784f6c-4edc-476b-999c-fa919bc56eda','0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'gcp',NULL,'gcp','service-account-impersonation',X'01A672A90DB1824A7EBC5D1A1FE373169100000001D000E2ACEB6F4A0C0DBF8476D49A260F4B9BCEBB62D193D345627545976B867B24C1C8BFFB96931ED986048CE7F352F33A836D963BDBB77ADE1FF51DF504B00FDD376D7D4DAFED4560546C006214F0DAFFF763F0C3193E5A273FE35D435F9EEBEC29328D801B','e64042f6b10aaff954030bfe00591a172d0206d1137e876beffccb4d6ce0ea81','{}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795605162679,1795605162679);
INSERT INTO "app_connections" VALUES('696e9fed-825a-4280-bf26-0ad051051af0','0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'parameters',NULL,'cloud','access-key',X'01A672A90DB1824A7EBC5D1A1FE373169100000001AE8E9B5C5BA30C680CF588D29F6ECAFF59FDBB0FAA5374090138289C31BB36C61F2B3CF158B213DE20D2FE6A07C3240785BD8DC60AB4F6B4F5C6B38A26A92250DEFF99B369124645B5CAB8B38F1A1C470E42F179260D7C9FC35096C8BBD85AF5C08288','97e3836686a43d90fd20f6ab0cbb21951a4092ed9e83504eded6d03892c6203d','{"accessKeyId": "AKIAEXAMPLE"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795605163019,1795605163019);
INSERT INTO "app_connections" VALUES('d35cce21-6ba5-4b63-a010-79edff0631f4','0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'secrets',NULL,'cloud','access-key',X'01A672A90DB1824A7EBC5D1A1FE3731691000000010F9D3DF8A7573FB0F377FB30B6301580994947D208678D7757F2727C771712F3C522B967D58960838340EB003FDAC8D01D556BCAD0869E32CCF4488D93CE793FEF8057153DBED84CF28889C8C4A555239876AEB880F4A6473F610C780B02384D6F0506','56652f8bb4f3d414f42c302e35aba5f7f4a4eaf3df84088bb4f098e9fb142660','{"accessKeyId": "AKIAEXAMPLE"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795605163351,1795605163351);
INSERT INTO "app_connections" VALUES('1f6eee00-c8c9-4c45-aea7-5f72d7eb657c','0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'many',NULL,'cloud','access-key',X'01A672A90DB1824A7EBC5D1A1FE37316910000000153CF95F4D316ADFB53F8BED079442D13874C88B0CE908CDC8E3C893C63CB8CB2A0EB611D126350693CD508B687B4D456AC1AA903048852DE321A0118BE20E45B4137DA8B1DFE14DFCBFC4C0A96F61AD0D62FA00755C751AAE9580D3062C468B75C419E','8b5523c08d00c504e9142f4fa01ff1c04b639736181d1b3647918704057bb5ab','{"accessKeyId": "AKIAEXAMPLE"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795605163883,1795605163883);
INSERT INTO "app_connections" VALUES('769c92bc-de2b-4e36-939c-4c5c00a81634','0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'vault',NULL,'hashicorp-vault','access-token',X'01A672A90DB1824A7EBC5D1A1FE3731691000000010A9F0163DE0EEC06E763543D460E9E22C65208D8410DA7F88251B0D95197ECA955E987464E086594C2492C24BD0A68FAFF64BAE1FDA7BD6BEBEBCD1DDE7CBE6715FC53B0414B7E9E130C762A071A751288DF90A4392C5AE857AFA113C7C8EF1EF64A73FDE05B8756','f006cb9f401ab8c3b934f95519d102513045280ef361a58e8673abd90b1a3547','{"instanceUrl": "http://127.0.0.1:39469"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795605164193,1795605164193);
INSERT INTO "app_connections" VALUES('ca6b6c0f-9ffa-458f-a17f-f045a695b347','0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'other',NULL,'external-infisical','machine-identity',X'01A672A90DB1824A7EBC5D1A1FE37316910000000122F1A8CE5835F6C701058BB7A90110CB11317122EBFE254397C58DA1E14F726E6F7D78C5C4B60BEF78BB052F25BE929842B507FFAE09FCFF8B7EA9494D41362E4A7A5BBC909BFABD4E99BED51DF8E5EE1E1151D0AC5C7BC06BDDCF9019A40AC119533A4C0D8DAC1BD3B151658BB65CC52C05EACF97599D56EC6B3346B5315AED1824F0507B85FA6473311C068FE083DBD847665199920BF388CE35D80B1FC77DDDBEBFA9093B9A6B526B4D94944FE15B8BE50B431FFB0CA9663B37E30AF1EF44E5C5BD8F6AEFDE38D07174F021A87262F7AF3AFCDB7995613D3D6C5110D6C1FFF171B8C30DF5','e1168ee582807a177496de2180532a66176ab387510b21b854922cd00ffdb4f4','{"instanceUrl": "http://127.0.0.1:38303", "machineIdentityClientId": "2d0f83df-65c4-4718-a983-63357a2f98cd"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795605164472,1795605164472);
INSERT INTO "app_connections" VALUES('d3b5e997-df02-4a03-ad73-84e189951758','0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'stuck',NULL,'gitlab','access-token',X'01A672A90DB1824A7EBC5D1A1FE37316910000000169497938C3A45F0BE4E0C77DF1FD99F2BBB009F09DEC1852CFAC5167E23244BE2F513568DA0F072EEA26F8999F375A4F3EB3AEDEBBABEFD21EE9677707E12900975C09D43D9CD23C44469AAAB7B0DAFEFE71B181B647D664E6','ce2cc41f8565c5ca93ea46fc45507adc205f9c7ff27d99775091444aacdc9386','{"accessTokenType": "personal"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795605166795,1795605166795);
INSERT INTO "app_connections" VALUES('6257697e-da96-4277-a2fa-7193ffd32516','0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'failed',NULL,'gitlab','access-token',X'01A672A90DB1824A7EBC5D1A1FE37316910000000123E59816606ED0930E203C952BA5B2A4DB899EDD537D8649262735A334909040AB9256E75B901EE04B33519D59E860173F749078A7CC00B442693FA3A01DD201530930E077ADED27C7A239A642D49976F9CD71506F0882F1AA','d5e21828a268425e8db641db1f0af797a8a013766a7196a08f612abed7c2157b','{"accessTokenType": "personal"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795605167037,1795605167037);
INSERT INTO "app_connections" VALUES('7efc9031-56d8-4359-9eba-48ff9627b41b','0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'killed',NULL,'codehost','pat',X'01A672A90DB1824A7EBC5D1A1FE37316910000000178F2244E84135077836B6FB62C9DD882FA320538EDC130F2C5304FC2CE9AD663948DA0FD4D52ABBD947CD5B630BDD9D5A7783758190D449BB6338BD580048E381989','72a6df23a19261f6bc01281c1bb9ab433e767a85faf5aae456ba2cc35cd283ed','{}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795605170583,1795605170583);
CREATE TABLE application_profiles (
	application_id VARCHAR(36) NOT NULL, 
	profile_id VARCHAR(36) NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_application_profiles PRIMARY KEY (application_id, profile_id), 
	CONSTRAINT fk_application_profiles_application_id_certificate_applications FOREIGN KEY(application_id) REFERENCES certificate_applications (id) ON DELETE CASCADE, 
	CONSTRAINT fk_application_profiles_profile_id_certificate_profiles FOREIGN KEY(profile_id) REFERENCES certificate_profiles (id) ON DELETE CASCADE
);
CREATE TABLE approval_policies (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	profile_id VARCHAR(36) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	is_enabled BOOLEAN NOT NULL, 
	required_approvals INTEGER NOT NULL, 
	approver_ids JSON NOT NULL, 
	bypass_identity_ids JSON NOT NULL, 
	allow_self_approval BOOLEAN NOT NULL, 
	request_ttl INTEGER, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_approval_policies PRIMARY KEY (id), 
	CONSTRAINT fk_approval_policies_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_approval_policies_profile_id_certificate_profiles FOREIGN KEY(profile_id) REFERENCES certificate_profiles (id) ON DELETE CASCADE, 
	CONSTRAINT uq_approval_policies_profile_id UNIQUE (profile_id)
);
CREATE TABLE approval_requests (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	request_id VARCHAR(36) NOT NULL, 
	policy_id VARCHAR(36), 
	status VARCHAR(16) NOT NULL, 
	required_approvals INTEGER NOT NULL, 
	approver_ids JSON NOT NULL, 
	allow_self_approval BOOLEAN NOT NULL, 
	expires_at BIGINT, 
	closed_at BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_approval_requests PRIMARY KEY (id), 
	CONSTRAINT fk_approval_requests_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_approval_requests_request_id_certificate_requests FOREIGN KEY(request_id) REFERENCES certificate_requests (id) ON DELETE CASCADE, 
	CONSTRAINT fk_approval_requests_policy_id_approval_policies FOREIGN KEY(policy_id) REFERENCES approval_policies (id) ON DELETE SET NULL, 
	CONSTRAINT uq_approval_requests_request_id UNIQUE (request_id)
);
CREATE TABLE approval_votes (
	approval_request_id VARCHAR(36) NOT NULL, 
	voter_id VARCHAR(36) NOT NULL, 
	voter_name TEXT NOT NULL, 
	verdict VARCHAR(16) NOT NULL, 
	comment TEXT, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_approval_votes PRIMARY KEY (approval_request_id, voter_id), 
	CONSTRAINT fk_approval_votes_approval_request_id_approval_requests FOREIGN KEY(approval_request_id) REFERENCES approval_requests (id) ON DELETE CASCADE
);
CREATE TABLE audit_log (
	id VARCHAR(36) NOT NULL, 
	created_at BIGINT NOT NULL, 
	organization_id VARCHAR(36), 
	project_id VARCHAR(36), 
	actor_kind VARCHAR(16) NOT NULL, 
	actor_id VARCHAR(36), 
	actor_name VARCHAR(255) NOT NULL, 
	event_type VARCHAR(64) NOT NULL, 
	ip_address VARCHAR(64), 
	user_agent VARCHAR(255) NOT NULL, 
	request_id VARCHAR(64) NOT NULL, 
	details JSON NOT NULL, 
	CONSTRAINT pk_audit_log PRIMARY KEY (id)
);
INSERT INTO "audit_log" VALUES('ccd33bcc-9246-49a9-b9e5-d98e7d1080c1',1795605161210,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','login-identity-universal-auth','127.0.0.1','python-httpx/0.28.1','req-TXIlE0tax9HZwg','{"identityId":"efe3312b-8210-4e18-a15a-56dc44615f97","clientSecretId":"231467a0-9cf8-46b6-baa0-e3b0459bbe08"}');
INSERT INTO "audit_log" VALUES('3d024147-2a20-40e5-98cb-afb81eef220a',1795605161327,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-user','127.0.0.1','python-httpx/0.28.1','req-Gxc1CWYAKto41g','{"userId":"b99a36e9-d4bc-47f7-aaa0-a5e323aa4145","email":"old@example.com"}');
INSERT INTO "audit_log" VALUES('f731e191-a9a5-454f-9fe9-259b8badd946',1795605161364,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-project','127.0.0.1','python-httpx/0.28.1','req-wOl6v_gATxl39g','{"name":"shop","slug":"shop-of-old"}');
INSERT INTO "audit_log" VALUES('a81ebfea-222d-4109-9273-dca5ee82000c',1795605161392,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-vkrhdejdklnyVw','{"environment":"dev","folderId":"94d476f9-606c-40d8-929c-ae7360a89417","folderPath":"/gitlab"}');
INSERT INTO "audit_log" VALUES('43b91955-6b23-491e-b713-3f2073b0b64d',1795605161422,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-q1RTl3EHvrx7hA','{"environment":"dev","secretPath":"/gitlab","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('2e933536-55e0-4ece-b36a-8b5a7cb85776',1795605161436,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-lVeOGmUpWvGO-g','{"environment":"dev","secretPath":"/gitlab","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('afd20ddb-85cb-4b46-ab71-d2b68ced84b9',1795605161449,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-SLqE2MWrkVGHTA','{"environment":"dev","secretPath":"/gitlab","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('d31dc33b-9f3a-4905-951a-9ac7b70c902a',1795605161464,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-c0A30N9m41g6Zg','{"environment":"dev","secretPath":"/gitlab","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('9b8c023b-e396-4a5a-acc0-05ff2f4231f2',1795605161595,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-VzR52DefG1J7pA','{"connectionId":"c281061f-1897-47b5-bb74-de42f0c49bc3","name":"gitlab","app":"gitlab","method":"access-token"}');
INSERT INTO "audit_log" VALUES('5b65a3f5-e9d9-43d4-aa6a-9f114bfd8505',1795605161636,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-ylecfKqtGbCB3w','{"syncId":"8fc44000-ca57-46b0-bf62-ca61deb5664d","name":"gitlab","destination":"gitlab","connectionId":"c281061f-1897-47b5-bb74-de42f0c49bc3","environment":"dev","secretPath":"/gitlab"}');
INSERT INTO "audit_log" VALUES('356c006d-bc61-44b0-a390-71d3655de65d',1795605161649,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-EGo2e3rhuNEj1Q','{"environment":"dev","folderId":"6336fb60-c29a-4aa1-aef3-aed8085ad588","folderPath":"/gitlab-hidden"}');
INSERT INTO "audit_log" VALUES('cf502130-feda-40c8-b498-d18343f3b0ea',1795605161729,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-M9vaIZrro027aA','{"environment":"dev","secretPath":"/gitlab-hidden","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('53992635-5b8b-470c-a137-c138d4328c41',1795605161793,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-g-2KYZA8Dl-Hzw','{"environment":"dev","secretPath":"/gitlab-hidden","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('4590e6ed-0b7a-4f58-85ad-8b7672ef41e3',1795605161818,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gitlab','secret-sync-sync-secrets',NULL,'','','{"syncId":"8fc44000-ca57-46b0-bf62-ca61deb5664d","name":"gitlab","destination":"gitlab","connectionId":"c281061f-1897-47b5-bb74-de42f0c49bc3","environment":"dev","secretPath":"/gitlab","jobId":"e1eb8c91-ed2c-494d-a5c5-b21af837c764","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('36b142f6-2aaa-4344-9590-bea80a72bd9c',1795605161848,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-rhwu3DpvoZN0qg','{"environment":"dev","secretPath":"/gitlab-hidden","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('37057504-1197-4aa4-807b-46a86f277fe4',1795605161874,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-Ht22ryyiOx5ecw','{"environment":"dev","secretPath":"/gitlab-hidden","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('00cc0124-9cf2-45b8-9de1-2d19860176f7',1795605161909,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-IJvh7UMMk7nzIw','{"connectionId":"3ab9d852-76d7-4631-8860-57297b541698","name":"gitlab-hidden","app":"gitlab","method":"access-token"}');
INSERT INTO "audit_log" VALUES('c6ddb3d1-4d27-4786-9f02-664f57c54225',1795605161938,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-af58NvmbZTJ6HA','{"syncId":"90118b43-4464-4d41-9434-de8193f03cd3","name":"gitlab-hidden","destination":"gitlab","connectionId":"3ab9d852-76d7-4631-8860-57297b541698","environment":"dev","secretPath":"/gitlab-hidden"}');
INSERT INTO "audit_log" VALUES('4b5f317c-9658-44f5-9c1f-21bd8a1823ca',1795605161954,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-518FS2_P21PRxw','{"environment":"dev","folderId":"dd224fce-2c99-486c-98d1-f2879da76d8a","folderPath":"/codehost"}');
INSERT INTO "audit_log" VALUES('5c5302ab-797c-4043-8eb5-50e747e1d29e',1795605162010,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-F-3-7Czs48G0Hg','{"environment":"dev","secretPath":"/codehost","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('8870b517-e383-4191-b886-1a4eff17e4bb',1795605162058,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-18leb9XBNdVomQ','{"environment":"dev","secretPath":"/codehost","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('de3e4f27-bd20-44f7-8a37-80062048edf0',1795605162098,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-YmlaZoCsXtnPXQ','{"environment":"dev","secretPath":"/codehost","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('c79d244f-8455-4e5b-af21-63176d7a2c55',1795605162122,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gitlab-hidden','secret-sync-sync-secrets',NULL,'','','{"syncId":"90118b43-4464-4d41-9434-de8193f03cd3","name":"gitlab-hidden","destination":"gitlab","connectionId":"3ab9d852-76d7-4631-8860-57297b541698","environment":"dev","secretPath":"/gitlab-hidden","jobId":"629f6a7b-4a20-45f1-95fa-9749f9a0aaa9","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('f63f4840-004d-4403-bc24-11d75b57ba7d',1795605162149,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-uu5_O1D4YgjW1g','{"environment":"dev","secretPath":"/codehost","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('44f0747a-a43d-461b-8f46-fd8ed8a52b0b',1795605162195,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-VzgM4Vp5foVXbA','{"connectionId":"c6588bf6-844c-4306-8f1f-d061b4ee0ed4","name":"codehost","app":"codehost","method":"pat"}');
INSERT INTO "audit_log" VALUES('71521136-94ee-4ae5-be00-7d2107336ac6',1795605162226,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-nQzx4QwX3KkOvA','{"syncId":"dae5ac87-dbb0-4716-98dc-f54e96330e0e","name":"codehost","destination":"codehost","connectionId":"c6588bf6-844c-4306-8f1f-d061b4ee0ed4","environment":"dev","secretPath":"/codehost"}');
INSERT INTO "audit_log" VALUES('9bb4b70f-4df9-4065-b7dc-e2ed70438d83',1795605162274,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-nvZXGN7ZlfzsLQ','{"environment":"dev","folderId":"cdb43460-8bee-42aa-92db-dc31c2243bab","folderPath":"/azure"}');
INSERT INTO "audit_log" VALUES('cc4e4ccb-6660-4b46-95bb-98d34fd21482',1795605162313,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-WXdkArQ87v9oaQ','{"environment":"dev","secretPath":"/azure","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('b6481350-c675-43c5-9927-73b4ba50836b',1795605162356,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-V68x1QP3icXj8g','{"environment":"dev","secretPath":"/azure","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('8a845f70-0948-4cd7-ab1a-e4faffa04ff6',1795605162374,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync codehost','secret-sync-sync-secrets',NULL,'','','{"syncId":"dae5ac87-dbb0-4716-98dc-f54e96330e0e","name":"codehost","destination":"codehost","connectionId":"c6588bf6-844c-4306-8f1f-d061b4ee0ed4","environment":"dev","secretPath":"/codehost","jobId":"781c1a69-fba5-4332-8fd7-30bd17d728a6","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('34041f1d-73a1-44a9-852f-ffbc5d31213e',1795605162404,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-RQbcWY3z_HMfwQ','{"environment":"dev","secretPath":"/azure","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('6b542abb-2743-432e-b6e4-ff65b97408d1',1795605162431,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-8AAQw9FZtBCtxw','{"environment":"dev","secretPath":"/azure","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('5138319c-6fc4-4579-9637-94495e4e6cfc',1795605162478,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-_jZxS-Ft7j_AnQ','{"connectionId":"d5008c90-6449-4d7c-8871-2bf795f2eb62","name":"azure","app":"azure-key-vault","method":"client-secret"}');
INSERT INTO "audit_log" VALUES('f266bdaf-e20a-443a-bf50-fb1d454ee64d',1795605162506,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-7u8Bi5UNb18m8g','{"syncId":"1330f75d-3e95-4f45-9922-41578dc7cff4","name":"azure","destination":"azure-key-vault","connectionId":"d5008c90-6449-4d7c-8871-2bf795f2eb62","environment":"dev","secretPath":"/azure"}');
INSERT INTO "audit_log" VALUES('81ac1183-51c2-432b-87b7-d75892992ed0',1795605162527,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-HIT1rtirbNLi8A','{"environment":"dev","folderId":"3aa1a02d-75fa-498e-b194-77a3ae1f4970","folderPath":"/gcp"}');
INSERT INTO "audit_log" VALUES('6e1297cc-5c9c-4963-9bf2-3afc1195c524',1795605162563,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-m_rZNfPRDuqr5Q','{"environment":"dev","secretPath":"/gcp","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('774568e9-66c9-4b62-b7ee-e02102b92971',1795605162597,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-VeFyMgBCttx7oA','{"environment":"dev","secretPath":"/gcp","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('a61b32a6-ad84-4369-9f6a-91e7dd4b5810',1795605162612,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync azure','secret-sync-sync-secrets',NULL,'','','{"syncId":"1330f75d-3e95-4f45-9922-41578dc7cff4","name":"azure","destination":"azure-key-vault","connectionId":"d5008c90-6449-4d7c-8871-2bf795f2eb62","environment":"dev","secretPath":"/azure","jobId":"9197a3f7-0952-40ee-850f-c3c776296543","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('f50e52e2-40d0-4752-9fd2-343a5d2a03a7',1795605162634,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-F3cyzaODuW8GvA','{"environment":"dev","secretPath":"/gcp","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('aff00448-66b4-4de5-847a-59ae83d58d71',1795605162664,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-ol17Udcce4AOkQ','{"environment":"dev","secretPath":"/gcp","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('c91f05ff-c0b0-4cea-be56-71983874206e',1795605161731,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gitlab','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gitlab","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"8fc44000-ca57-46b0-bf62-ca61deb5664d"}');
INSERT INTO "audit_log" VALUES('e4e7edc2-aa8e-4b43-ac0a-58342519ac16',1795605162029,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gitlab-hidden','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gitlab-hidden","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"90118b43-4464-4d41-9434-de8193f03cd3"}');
INSERT INTO "audit_log" VALUES('f38e7122-e64d-44b8-8a93-0117268ae3e0',1795605162284,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync codehost','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/codehost","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"dae5ac87-dbb0-4716-98dc-f54e96330e0e"}');
INSERT INTO "audit_log" VALUES('c26ce6b2-862e-4f68-99ba-c700ca324d6d',1795605162564,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync azure','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/azure","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"1330f75d-3e95-4f45-9922-41578dc7cff4"}');
INSERT INTO "audit_log" VALUES('118d4d29-cd73-4792-bb61-04dde5a7b9ff',1795605162757,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-TYPDIf2JvFIUFA','{"connectionId":"ac784f6c-4edc-476b-999c-fa919bc56eda","name":"gcp","app":"gcp","method":"service-account-impersonation"}');
INSERT INTO "audit_log" VALUES('1f69a037-2769-422c-9e50-24483d2d986b',1795605162795,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-Xhr1sIyX1Ox96A','{"syncId":"fa0322a8-1a49-452f-8d2b-31a3e969824f","name":"gcp","destination":"gcp-secret-manager","connectionId":"ac784f6c-4edc-476b-999c-fa919bc56eda","environment":"dev","secretPath":"/gcp"}');
INSERT INTO "audit_log" VALUES('c0fa6c92-73e6-4624-8cf6-e756764a03fa',1795605162845,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-r5Czm6w4NPnn9g','{"environment":"dev","folderId":"d1dc0f9f-4f0c-4dfa-8db3-d34d506550c9","folderPath":"/parameters"}');
INSERT INTO "audit_log" VALUES('82764779-51e0-4d9f-9d22-a7fa4f634f2c',1795605162893,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-l-0SEVC45_LxpQ','{"environment":"dev","secretPath":"/parameters","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('5f81ff20-e46e-409d-81c4-4e57a14b6e8e',1795605162936,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-VcTv79K5t9Hncw','{"environment":"dev","secretPath":"/parameters","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('666d9451-29e0-4f1d-901e-507582dcfdd2',1795605162957,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gcp','secret-sync-sync-secrets',NULL,'','','{"syncId":"fa0322a8-1a49-452f-8d2b-31a3e969824f","name":"gcp","destination":"gcp-secret-manager","connectionId":"ac784f6c-4edc-476b-999c-fa919bc56eda","environment":"dev","secretPath":"/gcp","jobId":"8984acde-084c-4bc8-a093-395b2d3e3dcb","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('554cac76-3c21-4b9e-a518-4769920bea3b',1795605162982,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-TLOdn2lqR9b7Sg','{"environment":"dev","secretPath":"/parameters","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('33f4b2f7-6ef0-4d62-9677-4d2f425dc19d',1795605163011,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-nT6YqATiVgPaMw','{"environment":"dev","secretPath":"/parameters","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('88066914-f3da-41df-89fc-cfef22b6f57e',1795605163138,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-vCurwmDxCjr4Iw','{"connectionId":"696e9fed-825a-4280-bf26-0ad051051af0","name":"parameters","app":"cloud","method":"access-key"}');
INSERT INTO "audit_log" VALUES('ad51f41a-c603-444d-b5d2-6044b3d73ccc',1795605163164,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-CiJDYUqm-d0j8w','{"syncId":"455dca6e-8c49-435e-97fa-f5212d3cc307","name":"parameters","destination":"cloud-parameter-store","connectionId":"696e9fed-825a-4280-bf26-0ad051051af0","environment":"dev","secretPath":"/parameters"}');
INSERT INTO "audit_log" VALUES('4d1384ed-2baf-4352-871c-65204dd67c45',1795605163195,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-7k9J4HezU4Hmiw','{"environment":"dev","folderId":"3a4a0a99-0e3e-4738-bda7-f5951181c802","folderPath":"/secrets"}');
INSERT INTO "audit_log" VALUES('f1414351-6ce1-44fe-a58d-f56979da1e13',1795605163216,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-DXK9jhj_JK7fAQ','{"environment":"dev","secretPath":"/secrets","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('08da9ec3-0f19-41fd-9239-ad217d6f8956',1795605163275,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req--ymlQLvzE56xHA','{"environment":"dev","secretPath":"/secrets","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('75c73a47-afa7-4a56-8755-03ccd0f94ae3',1795605163315,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-Kpp3IYY-9Dps0Q','{"environment":"dev","secretPath":"/secrets","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('ad895fc1-c99f-44d3-93e4-9e57c6aa94a6',1795605163335,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-bvkY_ZvQ4XsAjw','{"environment":"dev","secretPath":"/secrets","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('900defb6-f236-4ee5-8555-fd0367395912',1795605163494,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-pRBRvrs4m0571Q','{"connectionId":"d35cce21-6ba5-4b63-a010-79edff0631f4","name":"secrets","app":"cloud","method":"access-key"}');
INSERT INTO "audit_log" VALUES('e3cb7577-d18b-49d8-bd4b-67acccd4df85',1795605163558,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-ZVMH3Wxd8IZgLw','{"syncId":"f66c2efc-ff53-4d39-99b8-e06d02fe45e2","name":"secrets","destination":"cloud-secrets-manager","connectionId":"d35cce21-6ba5-4b63-a010-79edff0631f4","environment":"dev","secretPath":"/secrets"}');
INSERT INTO "audit_log" VALUES('ae324803-6c54-4dc2-ad02-ff9770d17995',1795605163636,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-hJL9f7S_9qtX9Q','{"environment":"dev","folderId":"7da57d39-eda9-4e33-b990-88e57a27a4e6","folderPath":"/many"}');
INSERT INTO "audit_log" VALUES('2fa1c84f-77f5-41e4-8262-3ab698873ce5',1795605163693,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-FAqf9GJLXsSD0w','{"environment":"dev","secretPath":"/many","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('f8bfa6bc-eb49-4852-a837-e14540cba992',1795605163749,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-h9hQ7QZXgPXIBQ','{"environment":"dev","secretPath":"/many","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('138a0c13-0d1e-41d4-8587-8aefa0293f26',1795605163816,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-1DTH1SH0Kj2d4g','{"environment":"dev","secretPath":"/many","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('34b26bbb-c2fa-4d4e-9aff-14107a728418',1795605163850,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync parameters','secret-sync-sync-secrets',NULL,'','','{"syncId":"455dca6e-8c49-435e-97fa-f5212d3cc307","name":"parameters","destination":"cloud-parameter-store","connectionId":"696e9fed-825a-4280-bf26-0ad051051af0","environment":"dev","secretPath":"/parameters","jobId":"38b9c6ad-88fa-4e10-af6e-d53c8b5260ab","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('ba80e8df-d151-4cc8-80e4-47bf101573b6',1795605163874,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-F0nAVOk0qaj_1Q','{"environment":"dev","secretPath":"/many","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('c0a9aec7-cbb6-4630-8d54-b4a7a1124907',1795605163895,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync secrets','secret-sync-sync-secrets',NULL,'','','{"syncId":"f66c2efc-ff53-4d39-99b8-e06d02fe45e2","name":"secrets","destination":"cloud-secrets-manager","connectionId":"d35cce21-6ba5-4b63-a010-79edff0631f4","environment":"dev","secretPath":"/secrets","jobId":"06619678-3293-4451-b731-d8c67487f5b5","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('e8a6d590-8a02-4eef-ae5d-de098cf73644',1795605162857,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gcp','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gcp","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"fa0322a8-1a49-452f-8d2b-31a3e969824f"}');
INSERT INTO "audit_log" VALUES('b5709ab2-1333-4dc6-82e0-0751d13b2932',1795605163199,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync parameters','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/parameters","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"455dca6e-8c49-435e-97fa-f5212d3cc307"}');
INSERT INTO "audit_log" VALUES('19cc8543-ad84-4b7d-9865-8d74c2be1566',1795605163662,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync secrets','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/secrets","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"f66c2efc-ff53-4d39-99b8-e06d02fe45e2"}');
INSERT INTO "audit_log" VALUES('add498cb-5c37-4469-a060-725fca171e7f',1795605163940,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-bAa8bQD9hAQEQw','{"connectionId":"1f6eee00-c8c9-4c45-aea7-5f72d7eb657c","name":"many","app":"cloud","method":"access-key"}');
INSERT INTO "audit_log" VALUES('7ed5d94a-7c37-4392-8156-9c5d332df9f0',1795605163967,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-bHyLlgtXz7xi8w','{"syncId":"e4476447-be91-4df1-a114-f01fc1a65180","name":"many","destination":"cloud-secrets-manager","connectionId":"1f6eee00-c8c9-4c45-aea7-5f72d7eb657c","environment":"dev","secretPath":"/many"}');
INSERT INTO "audit_log" VALUES('a860a013-8388-4eeb-9825-0818b4c1a1f4',1795605164020,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-0FsZiXFgh0wuDQ','{"environment":"dev","folderId":"ab9185c2-9a14-4e63-bc44-824e5aa24416","folderPath":"/vault"}');
INSERT INTO "audit_log" VALUES('76249939-6a30-465c-8327-cc2f8cf7b5e0',1795605164072,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-NoibRDcg21ayzA','{"environment":"dev","secretPath":"/vault","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('5dd69bcb-4673-4f90-b6a6-bd6c983a8597',1795605164095,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync many','secret-sync-sync-secrets',NULL,'','','{"syncId":"e4476447-be91-4df1-a114-f01fc1a65180","name":"many","destination":"cloud-secrets-manager","connectionId":"1f6eee00-c8c9-4c45-aea7-5f72d7eb657c","environment":"dev","secretPath":"/many","jobId":"a9b7f684-696f-430c-99b6-d7febd3ec11b","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('d69da6ec-49aa-4c01-a5e6-e2f0ef668b40',1795605164122,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-TvL5Tu729crMwg','{"environment":"dev","secretPath":"/vault","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('58cabfd1-8d71-47e9-b0f3-34113956f442',1795605164149,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-8rIJ6b7VDCYKFg','{"environment":"dev","secretPath":"/vault","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('10569eaa-c00f-4a42-995d-1cc8cb2f26e0',1795605164176,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-gBxjXTkdsN5SOg','{"environment":"dev","secretPath":"/vault","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('117408e9-afae-474e-8ee2-9bc264f1367e',1795605164229,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-ZQc-rq7SvodaHw','{"connectionId":"769c92bc-de2b-4e36-939c-4c5c00a81634","name":"vault","app":"hashicorp-vault","method":"access-token"}');
INSERT INTO "audit_log" VALUES('b3b3df87-4774-49bb-8621-a5b605a511fa',1795605164248,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-Iugsq4wODIBorg','{"syncId":"657e777d-249e-4a8e-905d-12c47b4875cb","name":"vault","destination":"hashicorp-vault","connectionId":"769c92bc-de2b-4e36-939c-4c5c00a81634","environment":"dev","secretPath":"/vault"}');
INSERT INTO "audit_log" VALUES('61cec9f7-6fc8-4c99-a0ab-6a8b280f63ed',1795605164264,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-6Rj4NpsohL1nTg','{"environment":"dev","folderId":"dd42fcb4-5f38-4690-bb7d-e05e3158a719","folderPath":"/other"}');
INSERT INTO "audit_log" VALUES('531c367c-4e6c-4206-b59c-d021204d756b',1795605164314,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-pDWsqQbAwidNqg','{"environment":"dev","secretPath":"/other","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('cf818c7b-09e6-4a1c-bb72-a23085e6d3e1',1795605164377,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-rVTiod-8WAa8Zg','{"environment":"dev","secretPath":"/other","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('0f670a39-fb7a-4c9f-87a2-7a91bd3d0609',1795605164415,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync vault','secret-sync-sync-secrets',NULL,'','','{"syncId":"657e777d-249e-4a8e-905d-12c47b4875cb","name":"vault","destination":"hashicorp-vault","connectionId":"769c92bc-de2b-4e36-939c-4c5c00a81634","environment":"dev","secretPath":"/vault","jobId":"9c825f28-b1ab-4d5c-a921-201d8bc7a9a3","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('6be5bc9a-bcbc-46ae-a5a2-0ee2e79e9498',1795605164436,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-cplqjo76fpAToA','{"environment":"dev","secretPath":"/other","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('961404e9-fd78-482c-8b56-57903d34ae0d',1795605164463,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-SzeUgL9QM3humg','{"environment":"dev","secretPath":"/other","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('f0ff6e48-ab32-4961-87ba-391de45bbdfa',1795605164501,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-X0J0BNkUer8pOA','{"connectionId":"ca6b6c0f-9ffa-458f-a17f-f045a695b347","name":"other","app":"external-infisical","method":"machine-identity"}');
INSERT INTO "audit_log" VALUES('9a6ce937-b93d-4d6a-b6ef-fdce547b0a56',1795605164517,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-CoVUhv4dg4RJlA','{"syncId":"01c54bef-7888-4b47-b0fc-646a2d7729ab","name":"other","destination":"external-infisical","connectionId":"ca6b6c0f-9ffa-458f-a17f-f045a695b347","environment":"dev","secretPath":"/other"}');
INSERT INTO "audit_log" VALUES('5bc4c26c-af74-4c7c-a986-bd13dc6c9720',1795605164783,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync other','secret-sync-sync-secrets',NULL,'','','{"syncId":"01c54bef-7888-4b47-b0fc-646a2d7729ab","name":"other","destination":"external-infisical","connectionId":"ca6b6c0f-9ffa-458f-a17f-f045a695b347","environment":"dev","secretPath":"/other","jobId":"cebac9e8-8689-44b9-9e71-c214366ff3f7","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('e4ebb484-c662-4b74-9fad-34878087e483',1795605164827,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','update-secret-sync','127.0.0.1','python-httpx/0.28.1','req-bMt-h-YPkEtAyw','{"syncId":"8fc44000-ca57-46b0-bf62-ca61deb5664d","name":"gitlab","destination":"gitlab","connectionId":"c281061f-1897-47b5-bb74-de42f0c49bc3","environment":"dev","secretPath":"/gitlab"}');
INSERT INTO "audit_log" VALUES('fe811dad-5f6a-4046-b340-3526933cefc3',1795605164902,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gitlab','secret-sync-sync-secrets',NULL,'','','{"syncId":"8fc44000-ca57-46b0-bf62-ca61deb5664d","name":"gitlab","destination":"gitlab","connectionId":"c281061f-1897-47b5-bb74-de42f0c49bc3","environment":"dev","secretPath":"/gitlab","jobId":"f9e6074f-9eec-49a8-98c4-bf36552f17f1","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('49831e44-06ac-40e9-a68e-f5f02a59947d',1795605164963,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','update-secret-sync','127.0.0.1','python-httpx/0.28.1','req-ZdyoVaatN9Y17A','{"syncId":"8fc44000-ca57-46b0-bf62-ca61deb5664d","name":"gitlab","destination":"gitlab","connectionId":"c281061f-1897-47b5-bb74-de42f0c49bc3","environment":"dev","secretPath":"/gitlab"}');
INSERT INTO "audit_log" VALUES('d0605f60-f3f1-40cc-adf4-a11d5b8fa4d0',1795605165033,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gitlab','secret-sync-sync-secrets',NULL,'','','{"syncId":"8fc44000-ca57-46b0-bf62-ca61deb5664d","name":"gitlab","destination":"gitlab","connectionId":"c281061f-1897-47b5-bb74-de42f0c49bc3","environment":"dev","secretPath":"/gitlab","jobId":"e668aef0-74b7-404f-a337-8d83e77fd4bc","status":"succeeded","secrets":4,"written":0,"removed":0}');
INSERT INTO "audit_log" VALUES('da8a70c9-5cce-46df-8bec-2f2a117d67db',1795605164031,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync many','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/many","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"e4476447-be91-4df1-a114-f01fc1a65180"}');
INSERT INTO "audit_log" VALUES('b60668eb-f57d-4f39-9fa3-8c168b5a8da6',1795605164315,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync vault','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/vault","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"657e777d-249e-4a8e-905d-12c47b4875cb"}');
INSERT INTO "audit_log" VALUES('28a61ab1-9cd6-4737-b0d9-a1f7aa88deb3',1795605164590,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync other','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/other","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"01c54bef-7888-4b47-b0fc-646a2d7729ab"}');
INSERT INTO "audit_log" VALUES('92b299e0-646d-4778-a309-ca70951f8db5',1795605164863,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gitlab','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gitlab","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"8fc44000-ca57-46b0-bf62-ca61deb5664d"}');
INSERT INTO "audit_log" VALUES('5da4b476-9be2-4324-839b-2ae6bd94e637',1795605165017,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gitlab','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gitlab","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"8fc44000-ca57-46b0-bf62-ca61deb5664d"}');
INSERT INTO "audit_log" VALUES('09d39b39-6799-4c4d-8d65-6a9d043a1d91',1795605165146,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-FV5nHBFnc-3AvQ','{"environment":"dev","secretPath":"/gitlab","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('c2c41ece-9cf0-425b-8e5c-d432b2e0613a',1795605165247,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gitlab','secret-sync-sync-secrets',NULL,'','','{"syncId":"8fc44000-ca57-46b0-bf62-ca61deb5664d","name":"gitlab","destination":"gitlab","connectionId":"c281061f-1897-47b5-bb74-de42f0c49bc3","environment":"dev","secretPath":"/gitlab","jobId":"98d76e61-6105-4001-92a4-a9e05d6b4ae4","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('0759dd08-8d3f-4587-a9cd-2c88974312b9',1795605165322,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-THGmeDmIpJRGAg','{"environment":"dev","secretPath":"/gitlab-hidden","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('ef2e4cab-9e2e-4c8a-a366-ed7ee1033048',1795605165418,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gitlab-hidden','secret-sync-sync-secrets',NULL,'','','{"syncId":"90118b43-4464-4d41-9434-de8193f03cd3","name":"gitlab-hidden","destination":"gitlab","connectionId":"3ab9d852-76d7-4631-8860-57297b541698","environment":"dev","secretPath":"/gitlab-hidden","jobId":"22affb84-543b-4843-b4b9-388147a55eee","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('48f50797-1b15-45c7-bfc4-5a162b04cdde',1795605165451,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-RmheqjOAjPtj9A','{"environment":"dev","secretPath":"/codehost","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('6a875d65-454f-4c9c-a80e-466139febec7',1795605165523,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync codehost','secret-sync-sync-secrets',NULL,'','','{"syncId":"dae5ac87-dbb0-4716-98dc-f54e96330e0e","name":"codehost","destination":"codehost","connectionId":"c6588bf6-844c-4306-8f1f-d061b4ee0ed4","environment":"dev","secretPath":"/codehost","jobId":"eea5c2fc-bab5-4815-9fb4-bf4caa40463c","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('a2599a31-7658-4906-9e67-b12b9eb1587d',1795605165562,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-SCQPVnMcY8CICg','{"environment":"dev","secretPath":"/azure","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('caf33d3a-493e-4415-aa7b-5942c54e649b',1795605165624,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync azure','secret-sync-sync-secrets',NULL,'','','{"syncId":"1330f75d-3e95-4f45-9922-41578dc7cff4","name":"azure","destination":"azure-key-vault","connectionId":"d5008c90-6449-4d7c-8871-2bf795f2eb62","environment":"dev","secretPath":"/azure","jobId":"c3fad2aa-96ff-4369-b0c1-7e460a8197e8","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('7029901b-094f-4bd8-bfdc-38f7d756e99b',1795605165681,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-sbGdR2G1ip3Lvw','{"environment":"dev","secretPath":"/gcp","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('aaa809c4-72c5-4b7e-9dc4-76b7970a9816',1795605165789,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gcp','secret-sync-sync-secrets',NULL,'','','{"syncId":"fa0322a8-1a49-452f-8d2b-31a3e969824f","name":"gcp","destination":"gcp-secret-manager","connectionId":"ac784f6c-4edc-476b-999c-fa919bc56eda","environment":"dev","secretPath":"/gcp","jobId":"7cb8612c-96da-4e0a-aff3-d5957ed941fa","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('98b36c5a-9851-4e68-95cd-e85bd255268a',1795605165828,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-uh6MnSYv1jVSuQ','{"environment":"dev","secretPath":"/parameters","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('a7bddaf5-14cc-4aaf-81a1-6626d1f57333',1795605165944,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync parameters','secret-sync-sync-secrets',NULL,'','','{"syncId":"455dca6e-8c49-435e-97fa-f5212d3cc307","name":"parameters","destination":"cloud-parameter-store","connectionId":"696e9fed-825a-4280-bf26-0ad051051af0","environment":"dev","secretPath":"/parameters","jobId":"f89e9972-2624-4242-a993-d4a3e3fac1aa","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('86e9fabf-312f-46bf-99ca-0257e11c72da',1795605166005,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-D76DtdWeckprGQ','{"environment":"dev","secretPath":"/secrets","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('f77ec988-615b-4938-9ce8-9e743f85d7d8',1795605166110,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync secrets','secret-sync-sync-secrets',NULL,'','','{"syncId":"f66c2efc-ff53-4d39-99b8-e06d02fe45e2","name":"secrets","destination":"cloud-secrets-manager","connectionId":"d35cce21-6ba5-4b63-a010-79edff0631f4","environment":"dev","secretPath":"/secrets","jobId":"af69d876-b9fd-4a5f-b8a6-0fcf4bdb11b2","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('d6d528ac-e58d-4bb7-a974-8207b4d80ddc',1795605166172,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-0dVx89dt8U1oTw','{"environment":"dev","secretPath":"/many","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('c8b17aec-71dc-4a5b-89c8-1d5eefe259a0',1795605165233,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gitlab','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gitlab","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"8fc44000-ca57-46b0-bf62-ca61deb5664d"}');
INSERT INTO "audit_log" VALUES('182cc79c-4716-45ed-92a8-99b684963549',1795605165402,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gitlab-hidden','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gitlab-hidden","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"90118b43-4464-4d41-9434-de8193f03cd3"}');
INSERT INTO "audit_log" VALUES('f99df3e5-16f6-44c2-889c-02cd71ca9b26',1795605165513,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync codehost','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/codehost","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"dae5ac87-dbb0-4716-98dc-f54e96330e0e"}');
INSERT INTO "audit_log" VALUES('37035cad-5dcb-43d6-885b-d6ec86ca88a2',1795605165616,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync azure','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/azure","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"1330f75d-3e95-4f45-9922-41578dc7cff4"}');
INSERT INTO "audit_log" VALUES('861009f0-cf7f-4ba4-ba7b-a1c5f5a219b3',1795605165781,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync gcp','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gcp","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"fa0322a8-1a49-452f-8d2b-31a3e969824f"}');
INSERT INTO "audit_log" VALUES('4cc8918a-dbcf-425f-81e0-9efb5c21af2c',1795605165903,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync parameters','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/parameters","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"455dca6e-8c49-435e-97fa-f5212d3cc307"}');
INSERT INTO "audit_log" VALUES('6f759a23-4954-483b-8c72-589a439eb763',1795605166070,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync secrets','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/secrets","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"f66c2efc-ff53-4d39-99b8-e06d02fe45e2"}');
INSERT INTO "audit_log" VALUES('5ff77918-5e59-4576-b756-f3617ca758f6',1795605166278,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync many','secret-sync-sync-secrets',NULL,'','','{"syncId":"e4476447-be91-4df1-a114-f01fc1a65180","name":"many","destination":"cloud-secrets-manager","connectionId":"1f6eee00-c8c9-4c45-aea7-5f72d7eb657c","environment":"dev","secretPath":"/many","jobId":"84fb98a8-4560-43eb-a7ba-89c819476eed","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('ad679393-5b29-4e79-918b-c6836384bacb',1795605166339,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-oEnXTS5ud-5gng','{"environment":"dev","secretPath":"/vault","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('7b6005cb-a976-4301-8b94-6272016416d9',1795605166494,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync vault','secret-sync-sync-secrets',NULL,'','','{"syncId":"657e777d-249e-4a8e-905d-12c47b4875cb","name":"vault","destination":"hashicorp-vault","connectionId":"769c92bc-de2b-4e36-939c-4c5c00a81634","environment":"dev","secretPath":"/vault","jobId":"b1781d29-70c5-4a9d-b13f-821907850350","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('17301afe-646c-45c2-86cd-6fd8e3ad57df',1795605166531,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-cRXCc32Ma32d-A','{"environment":"dev","secretPath":"/other","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('36891c78-1215-4b99-a10b-2c9794008ccb',1795605166655,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync other','secret-sync-sync-secrets',NULL,'','','{"syncId":"01c54bef-7888-4b47-b0fc-646a2d7729ab","name":"other","destination":"external-infisical","connectionId":"ca6b6c0f-9ffa-458f-a17f-f045a695b347","environment":"dev","secretPath":"/other","jobId":"1fe11960-e35a-4e60-b3b3-9e8acfb3c7de","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('4d68aa44-9af2-48bf-8a80-4bc9538dacbf',1795605166699,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-MXLbnIohQIArTw','{"environment":"dev","folderId":"45394465-5367-4d52-8c06-1a2dd7fb630d","folderPath":"/stuck"}');
INSERT INTO "audit_log" VALUES('2b5a9888-5873-4a26-942a-fd46070219d4',1795605166713,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-5cQEGCMWg68fYQ','{"environment":"dev","secretPath":"/stuck","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('f660f92a-39cf-4605-b511-64495d528c59',1795605166737,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-P4M-8TZYjYFuhw','{"environment":"dev","secretPath":"/stuck","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('6ec1955c-cbce-4dc3-8ed8-666d1034333f',1795605166762,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-VyoYBhNgHSYW5A','{"environment":"dev","secretPath":"/stuck","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('960ab406-e232-4cdc-8610-31040a4da93b',1795605166788,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-XEdVVMc8hJXl0g','{"environment":"dev","secretPath":"/stuck","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('b3fcb207-eba0-4e4c-a53e-dd91a4c1a61e',1795605166817,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-FPPzDzQesf3o1g','{"connectionId":"d3b5e997-df02-4a03-ad73-84e189951758","name":"stuck","app":"gitlab","method":"access-token"}');
INSERT INTO "audit_log" VALUES('6260bda9-6eb1-44a5-ac3d-7e4293e20670',1795605166834,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-J3Z7rib2U806-Q','{"syncId":"2b02f370-91b3-4106-b3f6-7f9e4a390ee1","name":"stuck","destination":"gitlab","connectionId":"d3b5e997-df02-4a03-ad73-84e189951758","environment":"dev","secretPath":"/stuck"}');
INSERT INTO "audit_log" VALUES('5a6ad071-ae02-4ec7-9f94-abb690dafa84',1795605166900,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync stuck','secret-sync-sync-secrets',NULL,'','','{"syncId":"2b02f370-91b3-4106-b3f6-7f9e4a390ee1","name":"stuck","destination":"gitlab","connectionId":"d3b5e997-df02-4a03-ad73-84e189951758","environment":"dev","secretPath":"/stuck","jobId":"31f30298-2fb8-4403-93bd-1f1018927578","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('f44fcc9b-c8c0-45b9-aa52-e0aa8eeb04aa',1795605166946,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-CvlHGe063wgLBA','{"environment":"dev","folderId":"cfed4af4-109f-428a-b63b-aebb611880ad","folderPath":"/failed"}');
INSERT INTO "audit_log" VALUES('5cde0631-dd1e-4d30-81c0-aaef87e4aca6',1795605166960,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-P_qSa6q4FwKZVA','{"environment":"dev","secretPath":"/failed","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('44c9a342-9e8d-4d67-b811-daf8459e4937',1795605166981,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-wH6gUEEvtlbjUg','{"environment":"dev","secretPath":"/failed","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('5994339f-b797-47e7-bd82-a1b35388c06c',1795605167004,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-OD8spXChuprj3g','{"environment":"dev","secretPath":"/failed","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('5605264a-2166-4791-bcb3-90611dd3e41c',1795605167029,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-d5YwoIca4XXTrg','{"environment":"dev","secretPath":"/failed","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('5836b0c2-99b4-489e-b1cc-8dbc010b2bb2',1795605167059,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-LRXOFfG-0X8F2Q','{"connectionId":"6257697e-da96-4277-a2fa-7193ffd32516","name":"failed","app":"gitlab","method":"access-token"}');
INSERT INTO "audit_log" VALUES('3532e0bb-240e-480b-addf-083bc1a681e7',1795605167083,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-rHKECOUb1Fnnjw','{"syncId":"73cfe8bb-331b-4821-818f-6200508c5a1d","name":"failed","destination":"gitlab","connectionId":"6257697e-da96-4277-a2fa-7193ffd32516","environment":"dev","secretPath":"/failed"}');
INSERT INTO "audit_log" VALUES('3d62a48e-ee8a-4c9c-a150-5c32ea4cfabc',1795605166255,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync many','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/many","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"e4476447-be91-4df1-a114-f01fc1a65180"}');
INSERT INTO "audit_log" VALUES('50b5d22c-582a-4d08-a0c3-0abd5f43b853',1795605166434,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync vault','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/vault","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"657e777d-249e-4a8e-905d-12c47b4875cb"}');
INSERT INTO "audit_log" VALUES('3b269b3e-6a19-475a-aa4e-9afe88c3b227',1795605166612,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync other','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/other","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"01c54bef-7888-4b47-b0fc-646a2d7729ab"}');
INSERT INTO "audit_log" VALUES('d3b2ab8c-e7a0-4265-9412-2430ea31210b',1795605166873,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync stuck','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/stuck","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"2b02f370-91b3-4106-b3f6-7f9e4a390ee1"}');
INSERT INTO "audit_log" VALUES('221c1ba4-8f69-4322-9dd3-998e200a6a30',1795605167131,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync failed','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/failed","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"73cfe8bb-331b-4821-818f-6200508c5a1d"}');
INSERT INTO "audit_log" VALUES('d6f1327a-d5c1-4843-bbca-4f1c2513eb06',1795605167278,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync failed','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/failed","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"73cfe8bb-331b-4821-818f-6200508c5a1d"}');
INSERT INTO "audit_log" VALUES('874b1a05-5990-47e5-8d81-1e8356699512',1795605167502,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync failed','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/failed","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"73cfe8bb-331b-4821-818f-6200508c5a1d"}');
INSERT INTO "audit_log" VALUES('98a4d89b-86c9-4215-83c0-6efb41e9d483',1795605167880,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync failed','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/failed","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"73cfe8bb-331b-4821-818f-6200508c5a1d"}');
INSERT INTO "audit_log" VALUES('7c24aae6-6b5a-4a2a-8db4-bd30209a4d9f',1795605168673,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync failed','secret-sync-sync-secrets',NULL,'','','{"syncId":"73cfe8bb-331b-4821-818f-6200508c5a1d","name":"failed","destination":"gitlab","connectionId":"6257697e-da96-4277-a2fa-7193ffd32516","environment":"dev","secretPath":"/failed","jobId":"c375047b-cf8d-4a85-abc7-3b36c6902551","status":"failed"}');
INSERT INTO "audit_log" VALUES('bc73cb68-fe2f-47b4-b8b8-2427cf92ba7a',1795605168706,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','request-secret-sync-job','127.0.0.1','python-httpx/0.28.1','req-aAWzuvEKN8YHnA','{"syncId":"2b02f370-91b3-4106-b3f6-7f9e4a390ee1","name":"stuck","destination":"gitlab","connectionId":"d3b5e997-df02-4a03-ad73-84e189951758","environment":"dev","secretPath":"/stuck","job":"sync"}');
INSERT INTO "audit_log" VALUES('d73acce8-6408-464b-a336-7302f6d20195',1795605168662,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync failed','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/failed","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"73cfe8bb-331b-4821-818f-6200508c5a1d"}');
INSERT INTO "audit_log" VALUES('27c11070-da5e-4c9c-baba-7ccf8479406d',1795605168749,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync stuck','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/stuck","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"2b02f370-91b3-4106-b3f6-7f9e4a390ee1"}');
INSERT INTO "audit_log" VALUES('e9df8b5b-1755-478b-b0c9-1fea7e8778b5',1795605168900,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync stuck','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/stuck","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"2b02f370-91b3-4106-b3f6-7f9e4a390ee1"}');
INSERT INTO "audit_log" VALUES('622314ce-f80d-4504-8b69-65d241433a4a',1795605169139,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync stuck','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/stuck","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"2b02f370-91b3-4106-b3f6-7f9e4a390ee1"}');
INSERT INTO "audit_log" VALUES('070eb122-530b-4065-b3ec-e7db814bb928',1795605169556,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync stuck','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/stuck","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"2b02f370-91b3-4106-b3f6-7f9e4a390ee1"}');
INSERT INTO "audit_log" VALUES('43a5fb52-1385-4d76-af44-3d0c4e054180',1795605170437,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine',NULL,'secret sync stuck','secret-sync-sync-secrets',NULL,'','','{"syncId":"2b02f370-91b3-4106-b3f6-7f9e4a390ee1","name":"stuck","destination":"gitlab","connectionId":"d3b5e997-df02-4a03-ad73-84e189951758","environment":"dev","secretPath":"/stuck","jobId":"9166d6ca-278f-4aee-810d-82f66d1eb540","status":"failed"}');
INSERT INTO "audit_log" VALUES('056dc2b5-4bf6-4047-b8f2-723640418cf0',1795605170478,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-thKbjIy3av_Ktw','{"environment":"dev","folderId":"0e61a7b5-7886-4d23-95ed-fbc5ec4ffd9e","folderPath":"/killed"}');
INSERT INTO "audit_log" VALUES('d5ed589d-4bcc-431d-a6da-bfc6df9abfb3',1795605170492,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-Jllv8R4EfQ91NQ','{"environment":"dev","secretPath":"/killed","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('a69b8cab-2cfb-49f1-84fa-d93a179e0f47',1795605170517,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-5PRvL0LZMCHciw','{"environment":"dev","secretPath":"/killed","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('7a2f3c7b-5eb6-445f-ae61-0fb271d0bb80',1795605170548,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-DbuGhFBfFl0hnQ','{"environment":"dev","secretPath":"/killed","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('7cd1a879-4f1b-4b1d-bcb3-0c119ffb580e',1795605170571,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-J71em4DGSfPIQA','{"environment":"dev","secretPath":"/killed","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('eb7cff87-18e9-4ea0-9fc3-bd07dc8da41d',1795605170609,'0d12ef63-de27-4496-9981-a1b4621ae4e0',NULL,'machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req--g3JeiUwj_eYxg','{"connectionId":"7efc9031-56d8-4359-9eba-48ff9627b41b","name":"killed","app":"codehost","method":"pat"}');
INSERT INTO "audit_log" VALUES('2ae830b2-be58-4949-8232-120adc395b0e',1795605170632,'0d12ef63-de27-4496-9981-a1b4621ae4e0','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','machine','efe3312b-8210-4e18-a15a-56dc44615f97','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-if0DB72eKUH39Q','{"syncId":"0453507c-9fee-4b9e-859d-04798a1c0e88","name":"killed","destination":"codehost","connectionId":"7efc9031-56d8-4359-9eba-48ff9627b41b","environment":"dev","secretPath":"/killed"}');
CREATE TABLE authority_certificates (
	id VARCHAR(36) NOT NULL, 
	authority_id VARCHAR(36) NOT NULL, 
	parent_id VARCHAR(36), 
	version INTEGER NOT NULL, 
	certificate TEXT NOT NULL, 
	chain TEXT NOT NULL, 
	serial_number VARCHAR(64) NOT NULL, 
	fingerprint VARCHAR(64) NOT NULL, 
	max_path_length INTEGER, 
	not_before BIGINT NOT NULL, 
	not_after BIGINT NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_authority_certificates PRIMARY KEY (id), 
	CONSTRAINT fk_authority_certificates_authority_id_certificate_authorities FOREIGN KEY(authority_id) REFERENCES certificate_authorities (id) ON DELETE CASCADE, 
	CONSTRAINT fk_authority_certificates_parent_id_certificate_authorities FOREIGN KEY(parent_id) REFERENCES certificate_authorities (id) ON DELETE SET NULL, 
	CONSTRAINT uq_authority_certificates_authority_id_version UNIQUE (authority_id, version)
);
CREATE TABLE certificate_applications (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	description TEXT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_certificate_applications PRIMARY KEY (id), 
	CONSTRAINT fk_certificate_applications_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_certificate_applications_project_id_name UNIQUE (project_id, name)
);
CREATE TABLE certificate_authorities (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	kind VARCHAR(32) NOT NULL, 
	status VARCHAR(32) NOT NULL, 
	enable_direct_issuance BOOLEAN NOT NULL, 
	configuration JSON NOT NULL, 
	certificate_id VARCHAR(36), 
	private_key BLOB, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_certificate_authorities PRIMARY KEY (id), 
	CONSTRAINT fk_certificate_authorities_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_certificate_authorities_project_id_name UNIQUE (project_id, name)
);
CREATE TABLE certificate_policies (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	description TEXT, 
	rules JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_certificate_policies PRIMARY KEY (id), 
	CONSTRAINT fk_certificate_policies_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_certificate_policies_project_id_name UNIQUE (project_id, name)
);
CREATE TABLE certificate_profiles (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	policy_id VARCHAR(36) NOT NULL, 
	authority_id VARCHAR(36), 
	slug VARCHAR(255) NOT NULL, 
	description TEXT, 
	issuer_type VARCHAR(16) NOT NULL, 
	enrollment_type VARCHAR(16) NOT NULL, 
	external_configs JSON, 
	defaults JSON, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_certificate_profiles PRIMARY KEY (id), 
	CONSTRAINT fk_certificate_profiles_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_certificate_profiles_policy_id_certificate_policies FOREIGN KEY(policy_id) REFERENCES certificate_policies (id), 
	CONSTRAINT fk_certificate_profiles_authority_id_certificate_authorities FOREIGN KEY(authority_id) REFERENCES certificate_authorities (id), 
	CONSTRAINT uq_certificate_profiles_project_id_slug UNIQUE (project_id, slug)
);
CREATE TABLE certificate_request_metadata (
	request_id VARCHAR(36) NOT NULL, 
	position INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	digest BLOB NOT NULL, 
	CONSTRAINT pk_certificate_request_metadata PRIMARY KEY (request_id, position), 
	CONSTRAINT fk_certificate_request_metadata_request_id_certificate_requests FOREIGN KEY(request_id) REFERENCES certificate_requests (id) ON DELETE CASCADE
);
CREATE TABLE certificate_requests (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	profile_id VARCHAR(36), 
	application_id VARCHAR(36), 
	authority_id VARCHAR(36), 
	certificate_id VARCHAR(36), 
	renews_id VARCHAR(36), 
	status VARCHAR(32) NOT NULL, 
	common_name TEXT, 
	alt_names TEXT, 
	asked JSON NOT NULL, 
	csr TEXT, 
	remove_roots_from_chain BOOLEAN NOT NULL, 
	requested_by VARCHAR(36), 
	requester_name TEXT NOT NULL, 
	error_message TEXT, 
	pending_message TEXT, 
	private_key BLOB, 
	order_state JSON, 
	attempt INTEGER NOT NULL, 
	due_at BIGINT, 
	claimed_by VARCHAR(36), 
	lease_ends_at BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_certificate_requests PRIMARY KEY (id), 
	CONSTRAINT fk_certificate_requests_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_certificate_requests_profile_id_certificate_profiles FOREIGN KEY(profile_id) REFERENCES certificate_profiles (id) ON DELETE SET NULL, 
	CONSTRAINT fk_certificate_requests_application_id_certificate_applications FOREIGN KEY(application_id) REFERENCES certificate_applications (id) ON DELETE SET NULL, 
	CONSTRAINT fk_certificate_requests_authority_id_certificate_authorities FOREIGN KEY(authority_id) REFERENCES certificate_authorities (id) ON DELETE SET NULL, 
	CONSTRAINT fk_certificate_requests_certificate_id_certificates FOREIGN KEY(certificate_id) REFERENCES certificates (id) ON DELETE SET NULL
);
CREATE TABLE certificates (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	profile_id VARCHAR(36), 
	application_id VARCHAR(36), 
	subscriber_id VARCHAR(36), 
	authority_id VARCHAR(36), 
	authority_certificate_id VARCHAR(36), 
	serial_number VARCHAR(64) NOT NULL, 
	fingerprint VARCHAR(64) NOT NULL, 
	public_key_fingerprint VARCHAR(64) NOT NULL, 
	common_name TEXT NOT NULL, 
	alt_names TEXT NOT NULL, 
	friendly_name TEXT NOT NULL, 
	subject JSON NOT NULL, 
	key_usages JSON NOT NULL, 
	extended_key_usages JSON NOT NULL, 
	key_algorithm VARCHAR(32) NOT NULL, 
	signature_algorithm VARCHAR(32) NOT NULL, 
	is_ca BOOLEAN NOT NULL, 
	path_length INTEGER, 
	not_before BIGINT NOT NULL, 
	not_after BIGINT NOT NULL, 
	certificate TEXT NOT NULL, 
	chain TEXT NOT NULL, 
	is_revoked BOOLEAN NOT NULL, 
	revoked_at BIGINT, 
	revocation_reason VARCHAR(32), 
	renew_before_days INTEGER, 
	renew_at BIGINT, 
	renewed_from_id VARCHAR(36), 
	renewed_by_id VARCHAR(36), 
	private_key BLOB, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_certificates PRIMARY KEY (id), 
	CONSTRAINT fk_certificates_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_certificates_profile_id_certificate_profiles FOREIGN KEY(profile_id) REFERENCES certificate_profiles (id) ON DELETE SET NULL, 
	CONSTRAINT fk_certificates_application_id_certificate_applications FOREIGN KEY(application_id) REFERENCES certificate_applications (id) ON DELETE SET NULL, 
	CONSTRAINT fk_certificates_subscriber_id_pki_subscribers FOREIGN KEY(subscriber_id) REFERENCES pki_subscribers (id) ON DELETE SET NULL, 
	CONSTRAINT fk_certificates_authority_id_certificate_authorities FOREIGN KEY(authority_id) REFERENCES certificate_authorities (id) ON DELETE SET NULL, 
	CONSTRAINT fk_certificates_authority_certificate_id_authority_certificates FOREIGN KEY(authority_certificate_id) REFERENCES authority_certificates (id) ON DELETE SET NULL
);
CREATE TABLE client_secrets (
	id VARCHAR(36) NOT NULL, 
	identity_id VARCHAR(36) NOT NULL, 
	description VARCHAR(1024) NOT NULL, 
	prefix VARCHAR(4) NOT NULL, 
	digest BLOB NOT NULL, 
	num_uses INTEGER NOT NULL, 
	num_uses_limit INTEGER NOT NULL, 
	ttl INTEGER NOT NULL, 
	revoked BOOLEAN NOT NULL, 
	last_used_at BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_client_secrets PRIMARY KEY (id), 
	CONSTRAINT fk_client_secrets_identity_id_identities FOREIGN KEY(identity_id) REFERENCES identities (id) ON DELETE CASCADE
);
INSERT INTO "client_secrets" VALUES('231467a0-9cf8-46b6-baa0-e3b0459bbe08','efe3312b-8210-4e18-a15a-56dc44615f97','made at the first start','ff3d',X'CAD24556EB14F5835A7AE096DC5C0F8C5AF6A429012AF3AE15556C36EFCE99FE',1,0,0,0,1795605161201,1795605161084,1795605161084);
CREATE TABLE data_keys (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	wrapped BLOB NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_data_keys PRIMARY KEY (id), 
	CONSTRAINT fk_data_keys_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_data_keys_project_id_version UNIQUE (project_id, version)
);
INSERT INTO "data_keys" VALUES('504629ca-928a-4927-a9dd-c86f0a7199c4','2eaaae46-9f73-43c8-bdc6-5435d5a7485c',1,X'017DBB61EB41EA0A1BDF57B42D57229DB000000001289407EDBC7E23DF55AA674A3400AA6F69E342BF4AA98433A54F53EA5927D8B76168E8D6F6B020CE309708FE6100C448E73C1B5E2D5D9DA97DD7AE1D',1795605161346);
CREATE TABLE enrollments (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	profile_id VARCHAR(36) NOT NULL, 
	application_id VARCHAR(36), 
	kind VARCHAR(16) NOT NULL, 
	settings JSON NOT NULL, 
	secret BLOB, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_enrollments PRIMARY KEY (id), 
	CONSTRAINT fk_enrollments_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_enrollments_profile_id_certificate_profiles FOREIGN KEY(profile_id) REFERENCES certificate_profiles (id) ON DELETE CASCADE, 
	CONSTRAINT fk_enrollments_application_id_certificate_applications FOREIGN KEY(application_id) REFERENCES certificate_applications (id) ON DELETE CASCADE
);
CREATE TABLE environments (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	slug VARCHAR(64) NOT NULL, 
	position INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_environments PRIMARY KEY (id), 
	CONSTRAINT fk_environments_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_environments_project_id_slug UNIQUE (project_id, slug)
);
INSERT INTO "environments" VALUES('18179e55-472a-402c-9d91-e78e657de677','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','Development','dev',1,1795605161336,1795605161336);
INSERT INTO "environments" VALUES('6c742f98-1cf5-437d-856a-f3b9a01cce61','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','Staging','staging',2,1795605161336,1795605161336);
INSERT INTO "environments" VALUES('ff81e340-2d92-4ca1-9278-635590f780d2','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','Production','prod',3,1795605161336,1795605161336);
CREATE TABLE folders (
	id VARCHAR(36) NOT NULL, 
	environment_id VARCHAR(36) NOT NULL, 
	parent_id VARCHAR(36), 
	name VARCHAR(255) NOT NULL, 
	path TEXT NOT NULL, 
	description TEXT, 
	version INTEGER NOT NULL, 
	is_reserved BOOLEAN NOT NULL, 
	last_secret_modified BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_folders PRIMARY KEY (id), 
	CONSTRAINT fk_folders_environment_id_environments FOREIGN KEY(environment_id) REFERENCES environments (id) ON DELETE CASCADE, 
	CONSTRAINT fk_folders_parent_id_folders FOREIGN KEY(parent_id) REFERENCES folders (id) ON DELETE CASCADE, 
	CONSTRAINT uq_folders_environment_id_path UNIQUE (environment_id, path)
);
INSERT INTO "folders" VALUES('2373e516-447b-41a7-a9b2-29bd6834e628','18179e55-472a-402c-9d91-e78e657de677',NULL,'root','/',NULL,1,0,NULL,1795605161336,1795605161336);
INSERT INTO "folders" VALUES('bfdbf4d2-6e9c-42eb-9377-f97ff46c8d06','6c742f98-1cf5-437d-856a-f3b9a01cce61',NULL,'root','/',NULL,1,0,NULL,1795605161336,1795605161336);
INSERT INTO "folders" VALUES('9fcc40ca-991c-461e-ba4f-ca9985098a73','ff81e340-2d92-4ca1-9278-635590f780d2',NULL,'root','/',NULL,1,0,NULL,1795605161336,1795605161336);
INSERT INTO "folders" VALUES('94d476f9-606c-40d8-929c-ae7360a89417','18179e55-472a-402c-9d91-e78e657de677','2373e516-447b-41a7-a9b2-29bd6834e628','gitlab','/gitlab',NULL,1,0,1795605165136,1795605161390,1795605161390);
INSERT INTO "folders" VALUES('6336fb60-c29a-4aa1-aef3-aed8085ad588','18179e55-472a-402c-9d91-e78e657de677','2373e516-447b-41a7-a9b2-29bd6834e628','gitlab-hidden','/gitlab-hidden',NULL,1,0,1795605165316,1795605161648,1795605161648);
INSERT INTO "folders" VALUES('dd224fce-2c99-486c-98d1-f2879da76d8a','18179e55-472a-402c-9d91-e78e657de677','2373e516-447b-41a7-a9b2-29bd6834e628','codehost','/codehost',NULL,1,0,1795605165447,1795605161952,1795605161952);
INSERT INTO "folders" VALUES('cdb43460-8bee-42aa-92db-dc31c2243bab','18179e55-472a-402c-9d91-e78e657de677','2373e516-447b-41a7-a9b2-29bd6834e628','azure','/azure',NULL,1,0,1795605165558,1795605162271,1795605162271);
INSERT INTO "folders" VALUES('3aa1a02d-75fa-498e-b194-77a3ae1f4970','18179e55-472a-402c-9d91-e78e657de677','2373e516-447b-41a7-a9b2-29bd6834e628','gcp','/gcp',NULL,1,0,1795605165676,1795605162525,1795605162525);
INSERT INTO "folders" VALUES('d1dc0f9f-4f0c-4dfa-8db3-d34d506550c9','18179e55-472a-402c-9d91-e78e657de677','2373e516-447b-41a7-a9b2-29bd6834e628','parameters','/parameters',NULL,1,0,1795605165823,1795605162844,1795605162844);
INSERT INTO "folders" VALUES('3a4a0a99-0e3e-4738-bda7-f5951181c802','18179e55-472a-402c-9d91-e78e657de677','2373e516-447b-41a7-a9b2-29bd6834e628','secrets','/secrets',NULL,1,0,1795605166000,1795605163192,1795605163192);
INSERT INTO "folders" VALUES('7da57d39-eda9-4e33-b990-88e57a27a4e6','18179e55-472a-402c-9d91-e78e657de677','2373e516-447b-41a7-a9b2-29bd6834e628','many','/many',NULL,1,0,1795605166166,1795605163630,1795605163630);
INSERT INTO "folders" VALUES('ab9185c2-9a14-4e63-bc44-824e5aa24416','18179e55-472a-402c-9d91-e78e657de677','2373e516-447b-41a7-a9b2-29bd6834e628','vault','/vault',NULL,1,0,1795605166330,1795605164017,1795605164017);
INSERT INTO "folders" VALUES('dd42fcb4-5f38-4690-bb7d-e05e3158a719','18179e55-472a-402c-9d91-e78e657de677','2373e516-447b-41a7-a9b2-29bd6834e628','other','/other',NULL,1,0,1795605166526,1795605164262,1795605164262);
INSERT INTO "folders" VALUES('45394465-5367-4d52-8c06-1a2dd7fb630d','18179e55-472a-402c-9d91-e78e657de677','2373e516-447b-41a7-a9b2-29bd6834e628','stuck','/stuck',NULL,1,0,1795605166780,1795605166697,1795605166697);
INSERT INTO "folders" VALUES('cfed4af4-109f-428a-b63b-aebb611880ad','18179e55-472a-402c-9d91-e78e657de677','2373e516-447b-41a7-a9b2-29bd6834e628','failed','/failed',NULL,1,0,1795605167020,1795605166945,1795605166945);
INSERT INTO "folders" VALUES('0e61a7b5-7886-4d23-95ed-fbc5ec4ffd9e','18179e55-472a-402c-9d91-e78e657de677','2373e516-447b-41a7-a9b2-29bd6834e628','killed','/killed',NULL,1,0,1795605170559,1795605170476,1795605170476);
CREATE TABLE identities (
	id VARCHAR(36) NOT NULL, 
	organization_id VARCHAR(36) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	role VARCHAR(64) NOT NULL, 
	permission_revision INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, kind VARCHAR(16) DEFAULT 'machine' NOT NULL, 
	CONSTRAINT pk_identities PRIMARY KEY (id), 
	CONSTRAINT fk_identities_organization_id_organizations FOREIGN KEY(organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);
INSERT INTO "identities" VALUES('efe3312b-8210-4e18-a15a-56dc44615f97','0d12ef63-de27-4496-9981-a1b4621ae4e0','admin','admin',1795605161352412,1795605161073,1795605161073,'machine');
INSERT INTO "identities" VALUES('b99a36e9-d4bc-47f7-aaa0-a5e323aa4145','0d12ef63-de27-4496-9981-a1b4621ae4e0','old@example.com','admin',1,1795605161319,1795605161319,'user');
CREATE TABLE key_holders (
	process_id VARCHAR(36) NOT NULL, 
	root_key_id VARCHAR(36) NOT NULL, 
	seen_at BIGINT NOT NULL, 
	CONSTRAINT pk_key_holders PRIMARY KEY (process_id, root_key_id)
);
INSERT INTO "key_holders" VALUES('724b5390-a947-40e9-823b-2aed6de86d44','7dbb61eb-41ea-0a1b-df57-b42d57229db0',1795605161053);
CREATE TABLE key_rotations (
	project_id VARCHAR(36) NOT NULL, 
	phase VARCHAR(16) NOT NULL, 
	"after" VARCHAR(64) NOT NULL, 
	resealed INTEGER NOT NULL, 
	started_at BIGINT NOT NULL, 
	CONSTRAINT pk_key_rotations PRIMARY KEY (project_id), 
	CONSTRAINT fk_key_rotations_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE TABLE kubernetes_auths (
	identity_id VARCHAR(36) NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	host VARCHAR(2048) NOT NULL, 
	ca_pem TEXT NOT NULL, 
	reviewer_token BLOB, 
	allowed_namespaces TEXT NOT NULL, 
	allowed_names TEXT NOT NULL, 
	allowed_audience VARCHAR(512) NOT NULL, 
	access_token_ttl INTEGER NOT NULL, 
	access_token_max_ttl INTEGER NOT NULL, 
	access_token_num_uses_limit INTEGER NOT NULL, 
	access_token_period INTEGER NOT NULL, 
	access_token_trusted_ips JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_kubernetes_auths PRIMARY KEY (identity_id), 
	CONSTRAINT fk_kubernetes_auths_identity_id_identities FOREIGN KEY(identity_id) REFERENCES identities (id) ON DELETE CASCADE
);
CREATE TABLE ldap_auths (
	identity_id VARCHAR(36) NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	url VARCHAR(2048) NOT NULL, 
	bind_dn VARCHAR(1024) NOT NULL, 
	bind_password BLOB NOT NULL, 
	search_base VARCHAR(1024) NOT NULL, 
	search_filter TEXT NOT NULL, 
	ca_pem TEXT NOT NULL, 
	allowed_fields JSON NOT NULL, 
	lockout_enabled BOOLEAN NOT NULL, 
	lockout_threshold INTEGER NOT NULL, 
	lockout_duration_seconds INTEGER NOT NULL, 
	lockout_counter_reset_seconds INTEGER NOT NULL, 
	failures INTEGER NOT NULL, 
	last_failure_at BIGINT, 
	locked_until BIGINT, 
	access_token_ttl INTEGER NOT NULL, 
	access_token_max_ttl INTEGER NOT NULL, 
	access_token_num_uses_limit INTEGER NOT NULL, 
	access_token_period INTEGER NOT NULL, 
	access_token_trusted_ips JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_ldap_auths PRIMARY KEY (identity_id), 
	CONSTRAINT fk_ldap_auths_identity_id_identities FOREIGN KEY(identity_id) REFERENCES identities (id) ON DELETE CASCADE
);
CREATE TABLE login_failures (
	digest BLOB NOT NULL, 
	failures INTEGER NOT NULL, 
	last_failure_at BIGINT, 
	locked_until BIGINT, 
	expires_at BIGINT NOT NULL, 
	CONSTRAINT pk_login_failures PRIMARY KEY (digest)
);
CREATE TABLE organizations (
	id VARCHAR(36) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	slug VARCHAR(64) NOT NULL, 
	names_revision INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_organizations PRIMARY KEY (id), 
	CONSTRAINT uq_organizations_slug UNIQUE (slug)
);
INSERT INTO "organizations" VALUES('0d12ef63-de27-4496-9981-a1b4621ae4e0','Keybearer','keybearer',1795605161336842,1795605161073);
CREATE TABLE pki_subscribers (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	authority_id VARCHAR(36), 
	name VARCHAR(64) NOT NULL, 
	common_name TEXT NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	ttl VARCHAR(32) NOT NULL, 
	subject_alternative_names JSON NOT NULL, 
	key_usages JSON NOT NULL, 
	extended_key_usages JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_pki_subscribers PRIMARY KEY (id), 
	CONSTRAINT fk_pki_subscribers_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_pki_subscribers_authority_id_certificate_authorities FOREIGN KEY(authority_id) REFERENCES certificate_authorities (id) ON DELETE SET NULL, 
	CONSTRAINT uq_pki_subscribers_project_id_name UNIQUE (project_id, name)
);
CREATE TABLE project_grants (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	identity_id VARCHAR(36) NOT NULL, 
	effect VARCHAR(8) NOT NULL, 
	subjects JSON NOT NULL, 
	actions JSON NOT NULL, 
	environment VARCHAR(64) NOT NULL, 
	secret_path TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_project_grants PRIMARY KEY (id), 
	CONSTRAINT fk_project_grants_project_id_project_memberships FOREIGN KEY(project_id, identity_id) REFERENCES project_memberships (project_id, identity_id) ON DELETE CASCADE
);
CREATE TABLE project_memberships (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	identity_id VARCHAR(36) NOT NULL, 
	roles JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_project_memberships PRIMARY KEY (id), 
	CONSTRAINT fk_project_memberships_identity_id_identities FOREIGN KEY(identity_id) REFERENCES identities (id) ON DELETE CASCADE, 
	CONSTRAINT fk_project_memberships_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_project_memberships_project_id_identity_id UNIQUE (project_id, identity_id)
);
INSERT INTO "project_memberships" VALUES('f98b6b13-5456-48aa-ad3e-95acb13beab8','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','efe3312b-8210-4e18-a15a-56dc44615f97','["admin"]',1795605161348,1795605161348);
CREATE TABLE projects (
	id VARCHAR(36) NOT NULL, 
	organization_id VARCHAR(36) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	slug VARCHAR(36) NOT NULL, 
	description TEXT, 
	type VARCHAR(32) NOT NULL, 
	auto_capitalization BOOLEAN NOT NULL, 
	has_delete_protection BOOLEAN NOT NULL, 
	revision INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_projects PRIMARY KEY (id), 
	CONSTRAINT fk_projects_organization_id_organizations FOREIGN KEY(organization_id) REFERENCES organizations (id) ON DELETE CASCADE, 
	CONSTRAINT uq_projects_organization_id_slug UNIQUE (organization_id, slug)
);
INSERT INTO "projects" VALUES('2eaaae46-9f73-43c8-bdc6-5435d5a7485c','0d12ef63-de27-4496-9981-a1b4621ae4e0','shop','shop-of-old',NULL,'secret-manager',0,0,1795605170556227,1795605161336,1795605161336);
CREATE TABLE revocation_lists (
	authority_id VARCHAR(36) NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	number BIGINT NOT NULL, 
	this_update BIGINT NOT NULL, 
	next_update BIGINT NOT NULL, 
	is_stale BOOLEAN NOT NULL, 
	der BLOB NOT NULL, 
	CONSTRAINT pk_revocation_lists PRIMARY KEY (authority_id), 
	CONSTRAINT fk_revocation_lists_authority_id_certificate_authorities FOREIGN KEY(authority_id) REFERENCES certificate_authorities (id) ON DELETE CASCADE
);
CREATE TABLE root_keys (
	id VARCHAR(36) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	activated_at BIGINT NOT NULL, 
	retired_at BIGINT, 
	CONSTRAINT pk_root_keys PRIMARY KEY (id)
);
INSERT INTO "root_keys" VALUES('7dbb61eb-41ea-0a1b-df57-b42d57229db0','active',1795605160959,NULL);
CREATE TABLE secret_imports (
	id VARCHAR(36) NOT NULL, 
	folder_id VARCHAR(36) NOT NULL, 
	environment_id VARCHAR(36) NOT NULL, 
	path TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	is_replication BOOLEAN NOT NULL, 
	version INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_secret_imports PRIMARY KEY (id), 
	CONSTRAINT fk_secret_imports_folder_id_folders FOREIGN KEY(folder_id) REFERENCES folders (id) ON DELETE CASCADE, 
	CONSTRAINT fk_secret_imports_environment_id_environments FOREIGN KEY(environment_id) REFERENCES environments (id) ON DELETE CASCADE
);
CREATE TABLE secret_references (
	secret_id VARCHAR(36) NOT NULL, 
	folder VARCHAR(32) NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	CONSTRAINT pk_secret_references PRIMARY KEY (secret_id, folder, "key"), 
	CONSTRAINT fk_secret_references_secret_id_secrets FOREIGN KEY(secret_id) REFERENCES secrets (id) ON DELETE CASCADE
);
CREATE TABLE secret_syncs (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	folder_id VARCHAR(36), 
	connection_id VARCHAR(36) NOT NULL, 
	name VARCHAR(256) NOT NULL, 
	description TEXT, 
	is_auto_sync_enabled BOOLEAN NOT NULL, 
	version INTEGER NOT NULL, 
	destination VARCHAR(64) NOT NULL, 
	destination_config JSON NOT NULL, 
	destination_digest VARCHAR(64) NOT NULL, 
	sync_options JSON NOT NULL, 
	sync_status VARCHAR(16), 
	last_sync_job_id VARCHAR(36), 
	last_sync_message TEXT, 
	last_synced_at BIGINT, 
	import_status VARCHAR(16), 
	last_import_job_id VARCHAR(36), 
	last_import_message TEXT, 
	last_imported_at BIGINT, 
	remove_status VARCHAR(16), 
	last_remove_job_id VARCHAR(36), 
	last_remove_message TEXT, 
	last_removed_at BIGINT, 
	source_digest BLOB, 
	reached JSON, 
	is_settled BOOLEAN NOT NULL, 
	listed_at BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_secret_syncs PRIMARY KEY (id), 
	CONSTRAINT fk_secret_syncs_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_secret_syncs_folder_id_folders FOREIGN KEY(folder_id) REFERENCES folders (id) ON DELETE SET NULL, 
	CONSTRAINT fk_secret_syncs_connection_id_app_connections FOREIGN KEY(connection_id) REFERENCES app_connections (id), 
	CONSTRAINT uq_secret_syncs_project_id_name UNIQUE (project_id, name)
);
INSERT INTO "secret_syncs" VALUES('8fc44000-ca57-46b0-bf62-ca61deb5664d','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','94d476f9-606c-40d8-929c-ae7360a89417','c281061f-1897-47b5-bb74-de42f0c49bc3','gitlab',NULL,1,3,'gitlab','{"targetEnvironment": "*", "shouldProtectSecrets": false, "shouldMaskSecrets": false, "shouldHideSecrets": false, "scope": "project", "projectId": "acme/shop"}','4f1da9596494295479b2c3fad2a2f41a5350f590b11d0ea668cc99489a819b9b','{"initialSyncBehavior": "overwrite-destination", "keySchema": "APP_{{secretKey}}"}','succeeded','98d76e61-6105-4001-92a4-a9e05d6b4ae4',NULL,1795605165258,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'8DCEBDBF6F07026D2CAC3D09C54C03A67D1CDC2F99F25074F6683D55BA42238F','{"2eaaae46-9f73-43c8-bdc6-5435d5a7485c": 1795605165131062}',1,1795605165018,1795605161620,1795605164951);
INSERT INTO "secret_syncs" VALUES('90118b43-4464-4d41-9434-de8193f03cd3','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','6336fb60-c29a-4aa1-aef3-aed8085ad588','3ab9d852-76d7-4631-8860-57297b541698','gitlab-hidden',NULL,1,1,'gitlab','{"targetEnvironment": "*", "shouldProtectSecrets": false, "shouldMaskSecrets": true, "shouldHideSecrets": true, "scope": "group", "groupId": "acme"}','2f0649b8ac0a0361bef04af21ca1b800473ea4dfdccf4a97794b3c9eef08c790','{"initialSyncBehavior": "overwrite-destination"}','succeeded','22affb84-543b-4843-b4b9-388147a55eee',NULL,1795605165420,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'173B576DAF31562E6F2BD1C44DAD8583F670E81CBD48A9A54529DFDCD953CF9C','{"2eaaae46-9f73-43c8-bdc6-5435d5a7485c": 1795605165313170}',1,1795605162029,1795605161927,1795605161927);
INSERT INTO "secret_syncs" VALUES('dae5ac87-dbb0-4716-98dc-f54e96330e0e','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','dd224fce-2c99-486c-98d1-f2879da76d8a','c6588bf6-844c-4306-8f1f-d061b4ee0ed4','codehost',NULL,1,1,'codehost','{"scope": "repository", "owner": "acme", "repo": "shop"}','415d3271a0d2c5d8c51be34486aa82befba3542ef03b14ac5dd872f83020754a','{"initialSyncBehavior": "overwrite-destination"}','succeeded','eea5c2fc-bab5-4815-9fb4-bf4caa40463c',NULL,1795605165525,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'DCAF3437858810D583D0EDEB8580A1D26DD196A3D294E9C6FD941A33AA6782D9','{"2eaaae46-9f73-43c8-bdc6-5435d5a7485c": 1795605165446160}',1,1795605162285,1795605162214,1795605162214);
INSERT INTO "secret_syncs" VALUES('1330f75d-3e95-4f45-9922-41578dc7cff4','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','cdb43460-8bee-42aa-92db-dc31c2243bab','d5008c90-6449-4d7c-8871-2bf795f2eb62','azure',NULL,1,1,'azure-key-vault','{"vaultBaseUrl": "http://127.0.0.1:34203"}','dd5739d7ee3e74cd404bf6152c67bf4af71ede8ca2f1f105b3470a7e88e8aabc','{"initialSyncBehavior": "overwrite-destination"}','succeeded','c3fad2aa-96ff-4369-b0c1-7e460a8197e8',NULL,1795605165626,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'C0880858A306FAF1327B4DFF033E7C28C875CB594C0035C5296AFD1DFA2BB0CE','{"2eaaae46-9f73-43c8-bdc6-5435d5a7485c": 1795605165555808}',1,1795605162564,1795605162496,1795605162496);
INSERT INTO "secret_syncs" VALUES('fa0322a8-1a49-452f-8d2b-31a3e969824f','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','3aa1a02d-75fa-498e-b194-77a3ae1f4970','ac784f6c-4edc-476b-999c-fa919bc56eda','gcp',NULL,1,1,'gcp-secret-manager','{"scope": "global", "projectId": "shop"}','6b54e6f7d0dfc45fb3b13d19be15b1cb8ff74f7741cf43040949ed26c631c59b','{"initialSyncBehavior": "overwrite-destination"}','succeeded','7cb8612c-96da-4e0a-aff3-d5957ed941fa',NULL,1795605165791,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'69062A42CC71BD25E326A72019DDF8A88DE677BF82CD2A4C99D05735E3756244','{"2eaaae46-9f73-43c8-bdc6-5435d5a7485c": 1795605165673881}',1,1795605162858,1795605162783,1795605162783);
INSERT INTO "secret_syncs" VALUES('455dca6e-8c49-435e-97fa-f5212d3cc307','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','d1dc0f9f-4f0c-4dfa-8db3-d34d506550c9','696e9fed-825a-4280-bf26-0ad051051af0','parameters',NULL,1,1,'cloud-parameter-store','{"region": "eu-west-1", "path": "/shop/"}','a0da3a44f492fa221f8f1845ac941747b6452e9d93562fea84d9878748425c11','{"initialSyncBehavior": "overwrite-destination", "tags": [{"key": "team", "value": "shop"}]}','succeeded','f89e9972-2624-4242-a993-d4a3e3fac1aa',NULL,1795605165946,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'F2DA223E38893EEFA01C5843B48B5CEF28E338456E56CB4218CFB3DE28999FCD','{"2eaaae46-9f73-43c8-bdc6-5435d5a7485c": 1795605165821560}',1,1795605163200,1795605163153,1795605163153);
INSERT INTO "secret_syncs" VALUES('f66c2efc-ff53-4d39-99b8-e06d02fe45e2','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','3a4a0a99-0e3e-4738-bda7-f5951181c802','d35cce21-6ba5-4b63-a010-79edff0631f4','secrets',NULL,1,1,'cloud-secrets-manager','{"region": "eu-west-1", "mappingBehavior": "one-to-one"}','b998592da60c70c9dccf06ceba5ba643eb9a3a5680eaae7e274b6e39160e8193','{"initialSyncBehavior": "overwrite-destination", "keySchema": "one-{{secretKey}}"}','succeeded','af69d876-b9fd-4a5f-b8a6-0fcf4bdb11b2',NULL,1795605166113,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'8351479C082173623642D9BAFDB64EBCFFDA2F02CBD339DD758018D4DF4332DD','{"2eaaae46-9f73-43c8-bdc6-5435d5a7485c": 1795605165997948}',1,1795605163663,1795605163532,1795605163532);
INSERT INTO "secret_syncs" VALUES('e4476447-be91-4df1-a114-f01fc1a65180','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','7da57d39-eda9-4e33-b990-88e57a27a4e6','1f6eee00-c8c9-4c45-aea7-5f72d7eb657c','many',NULL,1,1,'cloud-secrets-manager','{"region": "eu-west-1", "mappingBehavior": "many-to-one", "secretName": "shop-of-many-keys"}','0dc405dfafd3c6b5b90ba4ac2a5989d153a7827ab3d7171656fb954222f0a824','{"initialSyncBehavior": "overwrite-destination"}','succeeded','84fb98a8-4560-43eb-a7ba-89c819476eed',NULL,1795605166280,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'4FF4161D363961457F8E3EFECE0FEE2826F9BEAB3DB3200481E38CF4E69F6DA0','{"2eaaae46-9f73-43c8-bdc6-5435d5a7485c": 1795605166164147}',1,1795605164031,1795605163956,1795605163956);
INSERT INTO "secret_syncs" VALUES('657e777d-249e-4a8e-905d-12c47b4875cb','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','ab9185c2-9a14-4e63-bc44-824e5aa24416','769c92bc-de2b-4e36-939c-4c5c00a81634','vault',NULL,1,1,'hashicorp-vault','{"mount": "shop", "path": "app"}','4ac6ea638353ec9f7a547455ae08b1afbc45b5f2552c6b6dbf8177e54443f035','{"initialSyncBehavior": "overwrite-destination"}','succeeded','b1781d29-70c5-4a9d-b13f-821907850350',NULL,1795605166496,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'F5D310A89CFE03088074295C825B152303C51DCC1E118CF018FF287D99F405D9','{"2eaaae46-9f73-43c8-bdc6-5435d5a7485c": 1795605166328072}',1,1795605164316,1795605164241,1795605164241);
INSERT INTO "secret_syncs" VALUES('01c54bef-7888-4b47-b0fc-646a2d7729ab','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','dd42fcb4-5f38-4690-bb7d-e05e3158a719','ca6b6c0f-9ffa-458f-a17f-f045a695b347','other',NULL,1,1,'external-infisical','{"projectId": "05f558c7-e443-49e4-bc3b-9fcb6e79f008", "environment": "dev", "secretPath": "/app"}','6bd1bb76746ae399cd519e78ad218341752182f5eae066a03ba46e1da44c8677','{"initialSyncBehavior": "overwrite-destination"}','succeeded','1fe11960-e35a-4e60-b3b3-9e8acfb3c7de',NULL,1795605166659,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'0DFE7CFCBB4DF872EDA6501D4CB6A212EE362945DBE7F8B28D433761292B04ED','{"2eaaae46-9f73-43c8-bdc6-5435d5a7485c": 1795605166524337}',1,1795605164590,1795605164512,1795605164512);
INSERT INTO "secret_syncs" VALUES('2b02f370-91b3-4106-b3f6-7f9e4a390ee1','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','45394465-5367-4d52-8c06-1a2dd7fb630d','d3b5e997-df02-4a03-ad73-84e189951758','stuck',NULL,1,1,'gitlab','{"targetEnvironment": "*", "shouldProtectSecrets": false, "shouldMaskSecrets": false, "shouldHideSecrets": false, "scope": "project", "projectId": "acme/stuck"}','36248be17e6c1308962ce0c11d522bfdb7a3a62aad99530cb109834aeae7a0ce','{"initialSyncBehavior": "overwrite-destination"}','failed','9166d6ca-278f-4aee-810d-82f66d1eb540','GitLab answers 502 when asked to list the variables of the project ''acme/stuck''',1795605166902,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'D05E6A44FD0137870B97311D69C07EF954BCCD5003402738D0CEE0DE7C286088','{"2eaaae46-9f73-43c8-bdc6-5435d5a7485c": 1795605166775337}',0,NULL,1795605166827,1795605166827);
INSERT INTO "secret_syncs" VALUES('73cfe8bb-331b-4821-818f-6200508c5a1d','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','cfed4af4-109f-428a-b63b-aebb611880ad','6257697e-da96-4277-a2fa-7193ffd32516','failed',NULL,1,1,'gitlab','{"targetEnvironment": "*", "shouldProtectSecrets": false, "shouldMaskSecrets": false, "shouldHideSecrets": false, "scope": "project", "projectId": "acme/failed"}','e0bb9b438baf289abe7e7f905417217413c22a9b31b35fc873aed3201b6db847','{"initialSyncBehavior": "overwrite-destination"}','failed','c375047b-cf8d-4a85-abc7-3b36c6902551','GitLab answers 502 when asked to list the variables of the project ''acme/failed''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'null',0,NULL,1795605167075,1795605167075);
INSERT INTO "secret_syncs" VALUES('0453507c-9fee-4b9e-859d-04798a1c0e88','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','0e61a7b5-7886-4d23-95ed-fbc5ec4ffd9e','7efc9031-56d8-4359-9eba-48ff9627b41b','killed',NULL,1,1,'codehost','{"scope": "repository", "owner": "acme", "repo": "killed"}','06d312125f4a0db3514b9b75dc6d5f45628d35adb44d17d0ea6dd358da96e448','{"initialSyncBehavior": "overwrite-destination"}','running','1be78bbd-731b-40a1-b5a5-a8b4b3b7bf60',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'null',0,NULL,1795605170623,1795605170623);
CREATE TABLE secret_tags (
	secret_id VARCHAR(36) NOT NULL, 
	tag_id VARCHAR(36) NOT NULL, 
	CONSTRAINT pk_secret_tags PRIMARY KEY (secret_id, tag_id), 
	CONSTRAINT fk_secret_tags_secret_id_secrets FOREIGN KEY(secret_id) REFERENCES secrets (id) ON DELETE CASCADE, 
	CONSTRAINT fk_secret_tags_tag_id_tags FOREIGN KEY(tag_id) REFERENCES tags (id) ON DELETE CASCADE
);
CREATE TABLE secret_versions (
	secret_id VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	value BLOB NOT NULL, 
	details BLOB, 
	skip_multiline_encoding BOOLEAN, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_secret_versions PRIMARY KEY (secret_id, version), 
	CONSTRAINT fk_secret_versions_secret_id_secrets FOREIGN KEY(secret_id) REFERENCES secrets (id) ON DELETE CASCADE
);
INSERT INTO "secret_versions" VALUES('1cc07970-e506-418a-ae41-917a142c4985',1,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C4000000010CD78D4B424421335DF68DB76C0A24CC55F0090A86087BF4F1E8C15BBB51A606BD09E1C5D42D43F9C87C6A607C',NULL,NULL,1795605161409);
INSERT INTO "secret_versions" VALUES('2bc732bb-5edd-440b-9043-07b6aa1206f9',1,'KEPT',X'01504629CA928A4927A9DDC86F0A7199C400000001A1001B406DB5D25E3F98D819CCBCA883B782F6D35F26E7C41676DDD59DF3BBE9256565808D76C3B348514EF5',NULL,NULL,1795605161432);
INSERT INTO "secret_versions" VALUES('47d1748f-488a-48ec-9e33-d7c9569ae4b3',1,'REMOVED',X'01504629CA928A4927A9DDC86F0A7199C4000000016626EDC02BA34C018CEF11C162BAA4FC607A37442D2AAA53710A8477810AD7ADB790186A7C851207DEB0D8D42D19D1',NULL,NULL,1795605161446);
INSERT INTO "secret_versions" VALUES('be21582a-3760-41da-95f7-763d6cdacc73',1,'TEXT',X'01504629CA928A4927A9DDC86F0A7199C4000000017328CC7C4187D90C452ABA309E6D2DABBE0B2287E1DC502F11717D33EDF3F54F30E3302AE6FD95511D0A13C42E4CEA22D880A42DE84123B926FFB0F2E6',NULL,NULL,1795605161460);
INSERT INTO "secret_versions" VALUES('6dc94d4b-21e5-4124-bc8e-105f6bc19901',1,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C4000000010E613C14D021698623E3B6F54F3635774FCA3CCDCECB62DD836212FF33D676C9B7A64FAEA3F0C03615F93B47CB6203E92AA626FC',NULL,NULL,1795605161715);
INSERT INTO "secret_versions" VALUES('2f53cdac-4144-4c2b-bdf2-4c4db4ef477c',1,'KEPT',X'01504629CA928A4927A9DDC86F0A7199C4000000010632D24E0BB9C77702EAE5F32EFE666B98F4F691E34974E2E0A619B29A135FD18064ADDA71E8DCD3781DB3B0750C05A065D5F9',NULL,NULL,1795605161757);
INSERT INTO "secret_versions" VALUES('ed4e6513-e314-409b-a464-791f07093d5e',1,'REMOVED',X'01504629CA928A4927A9DDC86F0A7199C4000000017F2695B9B9A4177783DB47ECBB0339A576C2F1736BEA690937EE74A0662191C44101044938BCAC2DCF21DD08061BC08278CED66330F8',NULL,NULL,1795605161840);
INSERT INTO "secret_versions" VALUES('b09f455b-96e5-469f-8146-6de3b8fa5c1b',1,'TEXT',X'01504629CA928A4927A9DDC86F0A7199C4000000017036EF22EDB6BB47ADDA53E270355A0F708340D04574A0405850DDC3CE628E8F3B6510FEDE19B2FE7E54EA15E41E4DD9DD2F92',NULL,NULL,1795605161865);
INSERT INTO "secret_versions" VALUES('35086062-c2b8-41cf-bae6-ce4e95efc687',1,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C4000000013946B7D80EA258F5A5B1F22D36B70D833273A84EF152804A203CADFCEF3E19145F35CC5C2DA3B7FA03EFF6DAED05BC',NULL,NULL,1795605161995);
INSERT INTO "secret_versions" VALUES('5dc3d6a4-e050-4c25-a389-53205e24218b',1,'KEPT',X'01504629CA928A4927A9DDC86F0A7199C400000001AEACB060786756849E173578439EC50B261AA3F499FB443DAE61B6797907D431FDF6824FB678708E3913019EB283',NULL,NULL,1795605162032);
INSERT INTO "secret_versions" VALUES('ff886c7d-2685-4a32-bf3f-5b0443d6b697',1,'REMOVED',X'01504629CA928A4927A9DDC86F0A7199C400000001C276CEC3908DC4CD91B9C810CFFADEE00A802840813AFCD9C737CE4B582A377FB96A9AF8B0163133631A72621100730D0E',NULL,NULL,1795605162078);
INSERT INTO "secret_versions" VALUES('a0e1ac17-a206-4213-9f53-9d1c8170ca69',1,'TEXT',X'01504629CA928A4927A9DDC86F0A7199C4000000019F817F722B47FB9322A0E2C321A164C92A14815E5BE417F93D8B2F5CE5752468FB68590DE00B2FB53D33F11D9D258D52FCA221F8EDABFDFAF2F573EA138862',NULL,NULL,1795605162141);
INSERT INTO "secret_versions" VALUES('a06dce14-ec67-432f-bcbe-f59f918bea24',1,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C400000001BB8295F370F5809C513BF124EBF8C6036375EBBB2852A26E73C88FA01BB6D35D022E6ACB2929E6A6C0C3A69C',NULL,NULL,1795605162293);
INSERT INTO "secret_versions" VALUES('71b7a627-e9be-4df6-990d-14cf960f2746',1,'KEPT',X'01504629CA928A4927A9DDC86F0A7199C400000001CB5AB92A7882B5EB7DE92ED1FD5BF6601A04A9C096331BCBF44D318901202FDC645AEF4F27E12369F394F4',NULL,NULL,1795605162339);
INSERT INTO "secret_versions" VALUES('cf29ab6e-5e1d-4455-bbaf-c4edab1d5b5f',1,'REMOVED',X'01504629CA928A4927A9DDC86F0A7199C400000001F68C04A17DEFDF243FA549DFFB6A1AF28DA4E16C1F25E7B1E98B3F0F74E169108EAB0385C48786725AAF40BF1C3D',NULL,NULL,1795605162396);
INSERT INTO "secret_versions" VALUES('a753c16b-36c1-42be-bb85-8bab03b9fd6c',1,'TEXT',X'01504629CA928A4927A9DDC86F0A7199C40000000196BDB6E31686CD66B06725DCA5A983A0CE06AB62863738BB895160BA4F43B041DC626A164103236F68D7BF5AA0B59E648E15936EB3BD960D61CB7F25',NULL,NULL,1795605162422);
INSERT INTO "secret_versions" VALUES('78b16b32-fe59-4db2-b369-bf32ece7edef',1,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C400000001725311A43D6224A0005BE0A42D20060EDF5F23CC93406E24D1BB2A4CD8C867F94548686BB7622BDC2F01',NULL,NULL,1795605162554);
INSERT INTO "secret_versions" VALUES('d09c31c2-80ec-43bc-ba9c-182d42a88d18',1,'KEPT',X'01504629CA928A4927A9DDC86F0A7199C40000000191D38254C8609B26A8BA226E49915C9F0674A7594AE8B597A1D628B0742E7A1F8DC7902B38BE5FEC36',NULL,NULL,1795605162583);
INSERT INTO "secret_versions" VALUES('d7e5068e-6ed1-44e8-a944-81b41121043b',1,'REMOVED',X'01504629CA928A4927A9DDC86F0A7199C4000000019A97C3905C7E98BD787EF29D6606F80D25E69D3C17FD75BDB8EDF83B7E655349F7F7D2D6F508E9B8E16F4D57',NULL,NULL,1795605162628);
INSERT INTO "secret_versions" VALUES('f9515645-76f6-4e38-8ccb-1b929452e76e',1,'TEXT',X'01504629CA928A4927A9DDC86F0A7199C400000001D73BBDC62CE6F4E59DEA0C8BE1723A01FDDB1FBBFB7C52ADEAEFF848EEBF3702B258E2C77D156055A2A1D960F8221B929A4282330AFCC1893135',NULL,NULL,1795605162657);
INSERT INTO "secret_versions" VALUES('d4996495-e4f3-4ebc-b5f3-34f8c5b36b5e',1,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C400000001256A93DB751EAEC4EDE6C5F70863594B8842D06C6485B891B798A210814BB0D788F42D2680653FF44FBB29A10A3D3A801B',NULL,NULL,1795605162868);
INSERT INTO "secret_versions" VALUES('7e41a06f-33c0-48e7-a07a-7d9202958966',1,'KEPT',X'01504629CA928A4927A9DDC86F0A7199C400000001CD840CF3258834BC14D6C341798D1ADB58C566693C67E629E931A3CF48F179A38F3B671DB3EF425C42608D0722D28313',NULL,NULL,1795605162920);
INSERT INTO "secret_versions" VALUES('fbdaf84c-5abb-4e5d-a894-c805827f756e',1,'REMOVED',X'01504629CA928A4927A9DDC86F0A7199C4000000016D2174FB9182A3EAAC29AF779FA1D61FD576BDFE0521F80CD39AB6683EDCFD176916B1F31DB513979442374A9C3034F44482EB',NULL,NULL,1795605162976);
INSERT INTO "secret_versions" VALUES('ecefe43f-a3a6-41ea-a27d-6475af6f0864',1,'TEXT',X'01504629CA928A4927A9DDC86F0A7199C4000000011F0929C7B8114656E7C26505E452EF841D7640FDFA9C6983E0AA524D2EDD948B7860B4CF0E14ED639EE122CE0C20CDAEFC307B0C13107C7106C20E6A464D999741',NULL,NULL,1795605163004);
INSERT INTO "secret_versions" VALUES('11e10895-6477-4b2a-9184-8b90f64e201c',1,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C4000000014C4009E1FCEDA2B9482E9DE322088DE3782B0559F6F0A0980EDFC743136DB086692C4E3A3D5DE8A47730447FFDF9',NULL,NULL,1795605163208);
INSERT INTO "secret_versions" VALUES('b5320420-7130-4d51-a7b8-e603211e3da3',1,'KEPT',X'01504629CA928A4927A9DDC86F0A7199C400000001CAB5CB195D045BCE346BC07A5834A96FA2724EDC02B9D673303A1D30E44D5950A394490CA876415A1B0757D11E',NULL,NULL,1795605163242);
INSERT INTO "secret_versions" VALUES('41fb7049-cf8b-4dc3-a6ae-f8c2b0342ac9',1,'REMOVED',X'01504629CA928A4927A9DDC86F0A7199C400000001A28BE0476D7E40C2C526B7CC788971C4326AF3B35E3D5CF7CA6CC7D1D3606B6F24D312751EB0FD40579465C85023C911',NULL,NULL,1795605163308);
INSERT INTO "secret_versions" VALUES('2560f80b-4e70-4113-a7aa-e4d662b22934',1,'TEXT',X'01504629CA928A4927A9DDC86F0A7199C400000001DC306CC0DC9E248D1EE25C619BD1888FDEF4F8E6F59FEC79A14EBE30A6733AB75C4EA4BF839FF74EAC95F3A7973C3854C5660B07E38C47E6AF297C56372A',NULL,NULL,1795605163329);
INSERT INTO "secret_versions" VALUES('6949b47d-626c-4a58-8d0f-4e0ce7d72f9f',1,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C40000000176824349B0695EABDA9B3F72D2F98B8828DE00E11C87C8A73B391CB649831A0E90F7C438C34F49D1A75FA2',NULL,NULL,1795605163674);
INSERT INTO "secret_versions" VALUES('2d9e5b01-06d5-486a-8085-4902f52b7836',1,'KEPT',X'01504629CA928A4927A9DDC86F0A7199C40000000108D417FBDD841F5D253A5617AEDD7C1FD2D87270336F15A6AD43E484BBF0564E73B9CFB84CA3ADE97D11',NULL,NULL,1795605163732);
INSERT INTO "secret_versions" VALUES('ede22ace-7d18-4ab0-b2c0-3794aa1dff65',1,'REMOVED',X'01504629CA928A4927A9DDC86F0A7199C40000000184AB90B503A4A87C956CDA7AB2C9DEC5D372FABAF5D7B0FBD3F16C2BACFCD910230CCD9A670FE27FA966B9C3CE',NULL,NULL,1795605163790);
INSERT INTO "secret_versions" VALUES('15e7304b-8ee2-4e92-945d-2ab971807575',1,'TEXT',X'01504629CA928A4927A9DDC86F0A7199C400000001C7BE8DE11FF70BC13AD9027E1F076D43606E716C75A2D5B4E55CA232261DDA4CADF4A0128D8325D1626943F009823A6CA79C05AE6808A8DA55AF33',NULL,NULL,1795605163867);
INSERT INTO "secret_versions" VALUES('8dad2c55-9bcf-4e1a-93cf-2121788d4945',1,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C40000000157A0C1E0D24E5C105E6D60CEDFA80B720BED5FC59847F3C104D26C9E4E3AAAE17B7F4376A44D2009EEDACB93',NULL,NULL,1795605164059);
INSERT INTO "secret_versions" VALUES('1b966e47-3d1a-4d4e-aab1-05eb21805220',1,'KEPT',X'01504629CA928A4927A9DDC86F0A7199C4000000015052A4467C1BCA6FE52FEF872AF0A318684F2865286D02768815426A352096A2208070B135EFA26E5F3F36',NULL,NULL,1795605164115);
INSERT INTO "secret_versions" VALUES('89811dca-ed2b-4687-93d9-fc6e2271e030',1,'REMOVED',X'01504629CA928A4927A9DDC86F0A7199C400000001520DA3C2CBE73F00617E303CA4809586E22D0DD09D2D5F995784BF8F597718677F49B122595A9F9F38220094A759',NULL,NULL,1795605164138);
INSERT INTO "secret_versions" VALUES('de11c126-5973-4f88-87c5-d155c7e04973',1,'TEXT',X'01504629CA928A4927A9DDC86F0A7199C400000001B67E019597DCC17B2F4F4F2A2DF4F0D87C22913D60F1B52AA91FB075A26BE797C2EE1B1B9C2CBB5263ECB725B8654E34F08BD515C0754C9A645A63CA',NULL,NULL,1795605164170);
INSERT INTO "secret_versions" VALUES('b161f483-da99-4d94-a454-a7dfa5121884',1,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C40000000182E713FEB24E9EAFD11CA59FC05918C98AA784ABF81D0C0C6A08BCEFDB783D8C3A335793259E7195B66CC745',NULL,NULL,1795605164304);
INSERT INTO "secret_versions" VALUES('d859e657-ba15-4eb6-9545-af7aa2e1f60c',1,'KEPT',X'01504629CA928A4927A9DDC86F0A7199C4000000013F67FD16F64BB28BA1CDCD363405D7D5AFEFF4BEE4002B5530E21B9B1CAD655FA7691A82A92EE31E6A60D1',NULL,NULL,1795605164343);
INSERT INTO "secret_versions" VALUES('2475ab91-0903-4e00-8f90-09510aae6ee1',1,'REMOVED',X'01504629CA928A4927A9DDC86F0A7199C400000001DDBFB7C1CF5614ABE983901C10AFDAD8FB34993F60CBA0CCD17238D6806A0F1A010510B1B4030001379CADF553BD',NULL,NULL,1795605164429);
INSERT INTO "secret_versions" VALUES('d85a1bdc-e74f-4ec9-9483-bbdb2ac6fdb7',1,'TEXT',X'01504629CA928A4927A9DDC86F0A7199C4000000011B0CD1266C959A33E02289995B3C978373431A47A2FB8BD2224189752934DCE1E64F67D0433443E6862A90B695A8C0532268AD92580A04BE0D43E570',NULL,NULL,1795605164451);
INSERT INTO "secret_versions" VALUES('1cc07970-e506-418a-ae41-917a142c4985',2,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C400000001252F21DA430A5CDFF199B34941C63F3D6194ED96D211C3EE86775AB0AA8FAE503604AC7FB039B8C981A9A2F1C8F2',NULL,NULL,1795605165136);
INSERT INTO "secret_versions" VALUES('6dc94d4b-21e5-4124-bc8e-105f6bc19901',2,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C4000000011A7EDF21DE07630C05CF4E4FDE6CC34BC28CDD8A8D60E11047E185AFB2AAF9CA6923A7E927382D557CB36B81BAE41CAB611B6790DC',NULL,NULL,1795605165316);
INSERT INTO "secret_versions" VALUES('35086062-c2b8-41cf-bae6-ce4e95efc687',2,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C4000000017E9390A5CC961E31C9E047703C9AB5CF35E6B271C9A7912999F3D45517FB8F59F547DAFB48EF05C6311DFDA4A7A01A12',NULL,NULL,1795605165447);
INSERT INTO "secret_versions" VALUES('a06dce14-ec67-432f-bcbe-f59f918bea24',2,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C4000000018306CB896AD0025DD9C2F5D11D337D5651FA99EEE6EE41002708ECCC2BBD69E0C52F23A1A954293D59BB425066',NULL,NULL,1795605165558);
INSERT INTO "secret_versions" VALUES('78b16b32-fe59-4db2-b369-bf32ece7edef',2,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C400000001C79B4F6F44909AFA01B42E226A392176837A781FD184BD688B57CBAA187B01C76A0C50B555B2B02B577B06',NULL,NULL,1795605165676);
INSERT INTO "secret_versions" VALUES('d4996495-e4f3-4ebc-b5f3-34f8c5b36b5e',2,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C400000001B6EDCDA68E4B7C71333A3F617C4925141E9A2B077E812B4E1D421BD6D42E0D503E00B0137C8E2BA9ABA8DC2C46D1E8FA979B',NULL,NULL,1795605165823);
INSERT INTO "secret_versions" VALUES('11e10895-6477-4b2a-9184-8b90f64e201c',2,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C400000001792820E94B710FD973D5F006DCBD23F2E068D026FFA8B64DF3853E9DEA7007C4FD8387E029EBD89C10950889A4E06C',NULL,NULL,1795605166000);
INSERT INTO "secret_versions" VALUES('6949b47d-626c-4a58-8d0f-4e0ce7d72f9f',2,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C400000001B7D8C98859F6D480C82444A5D4A2CFC24091038069C53AFF13E047ECFC01B818B4E303F4A39078E1600AF070',NULL,NULL,1795605166166);
INSERT INTO "secret_versions" VALUES('8dad2c55-9bcf-4e1a-93cf-2121788d4945',2,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C400000001645A6C924A2589389E67C0CAE1442AFB9138ABDD7EAE40C48B56FF8490C5E8645D9C172A3CC6E6228FDB85133E',NULL,NULL,1795605166330);
INSERT INTO "secret_versions" VALUES('b161f483-da99-4d94-a454-a7dfa5121884',2,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C4000000015932E9F688BE4B33A50AA92EAF6DFC5D929614403380A26A368D09F74241E4905A07F31E1A588010597AD8FCB6',NULL,NULL,1795605166526);
INSERT INTO "secret_versions" VALUES('39e1e2d1-6420-4dbc-af42-4d2f43839796',1,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C4000000013258BE659DA6B075E511A593DC6801CB8620B297616BDA59D8CB8C7EACE562937FD13F406987273727B6F9D2',NULL,NULL,1795605166709);
INSERT INTO "secret_versions" VALUES('a4e798a3-a439-49cd-b580-e09480ea5c0e',1,'KEPT',X'01504629CA928A4927A9DDC86F0A7199C4000000018C739DE9B238E612E46DDBD617EA7A7E9375636022AA51B762AB747ADC79CEEDC5FDBF86244DEB44B3C4CE',NULL,NULL,1795605166730);
INSERT INTO "secret_versions" VALUES('a049e20d-1af4-4001-8669-4423bcfbff3d',1,'REMOVED',X'01504629CA928A4927A9DDC86F0A7199C4000000012C801FD522D6BBCDE84D77B8616094BA21135816F7CB18654BCE61DD7DE641B4CBAB4FEE1D260EC2A63892365C34',NULL,NULL,1795605166756);
INSERT INTO "secret_versions" VALUES('1dff8fab-c264-4b8d-b71c-c1b5a80031af',1,'TEXT',X'01504629CA928A4927A9DDC86F0A7199C400000001F0C77D4645EAFD5996107C4D6B48C3831826326794EB29B53D6CC9899BE62AE3572467F7F80F18BDB833567576AA9F3796BBB1EAA2E021A00601389F',NULL,NULL,1795605166780);
INSERT INTO "secret_versions" VALUES('17656aad-dafb-4e45-95ef-fef49af4904d',1,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C400000001A1536A4F241E1A0B740276D39D8C5AF4D33EC5C31A24591321F7EFDD7B42222A6DD9692A99F10480A57AEDC3D9',NULL,NULL,1795605166956);
INSERT INTO "secret_versions" VALUES('d76b18be-25f1-457c-a279-f103468e6658',1,'KEPT',X'01504629CA928A4927A9DDC86F0A7199C400000001074CFBBF78C12105D8B56F3A46637920527AD53A71F0C33B8C28AFC7E7ADE7588B0426C93F7F8EA150F54AAE',NULL,NULL,1795605166973);
INSERT INTO "secret_versions" VALUES('9f8adcae-49e0-4425-9f6b-af718aa6c86f',1,'REMOVED',X'01504629CA928A4927A9DDC86F0A7199C400000001DA1B1D400D218CF3F1C6EE03F9C00B72C716A36840E91961FE417CE7E61E575C699B729A52BD229CCB3A900E7B57DD',NULL,NULL,1795605166997);
INSERT INTO "secret_versions" VALUES('a0edc7a3-b4cc-4837-a369-4b187a2e5fa5',1,'TEXT',X'01504629CA928A4927A9DDC86F0A7199C400000001F34C9F3C490A230E21A2EB1039722CB2D1B74C691B733421FA67EE6269DB18E905B9BA2D2102B478462816504E313761CF3BC7E7217BAD9D61502081C1',NULL,NULL,1795605167020);
INSERT INTO "secret_versions" VALUES('cb1e1d3c-a4db-4a95-8c88-bb6d28fa5983',1,'CHANGED',X'01504629CA928A4927A9DDC86F0A7199C40000000137AF2DDDE7FB2A82A306132A1DE32C59226DB4F2025F0086476ACBC2545D0681B35D4AAADBC42ACF2CF7C30BE5',NULL,NULL,1795605170488);
INSERT INTO "secret_versions" VALUES('2207ca94-1d32-4967-ad40-29693d6df408',1,'KEPT',X'01504629CA928A4927A9DDC86F0A7199C400000001E8875A4E2032D76E6B970E630AAEA74399CB601999B95C1EEA1946B9CD8ADC8D74F6ED1B0BF2D0575278094D',NULL,NULL,1795605170505);
INSERT INTO "secret_versions" VALUES('9e62de65-0848-4b3b-9221-c82fc57ee733',1,'REMOVED',X'01504629CA928A4927A9DDC86F0A7199C400000001A01A10A49F878C3CFBBA1CBE8E51EFA99216FFD201D72C2973EB6759F163EB50FB619D121A9483869A9363A985C104',NULL,NULL,1795605170538);
INSERT INTO "secret_versions" VALUES('0244a914-ee5a-4c41-a824-ecc19c46890c',1,'TEXT',X'01504629CA928A4927A9DDC86F0A7199C400000001EE7D8BC4CE93D3E11AC8FBCC4A2E0FED00C06A23C2FEBE4DA5EFD3BA117F4734677FB6FC167B5BDD400C5C6564713EE419A3DFCFF269D7BDCCD10375A3',NULL,NULL,1795605170559);
CREATE TABLE secrets (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	folder_id VARCHAR(36) NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	owner VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	value BLOB NOT NULL, 
	details BLOB, 
	skip_multiline_encoding BOOLEAN, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_secrets PRIMARY KEY (id), 
	CONSTRAINT fk_secrets_folder_id_folders FOREIGN KEY(folder_id) REFERENCES folders (id) ON DELETE CASCADE, 
	CONSTRAINT fk_secrets_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_secrets_folder_id_key_owner UNIQUE (folder_id, "key", owner)
);
INSERT INTO "secrets" VALUES('1cc07970-e506-418a-ae41-917a142c4985','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','94d476f9-606c-40d8-929c-ae7360a89417','CHANGED','',2,X'01504629CA928A4927A9DDC86F0A7199C400000001252F21DA430A5CDFF199B34941C63F3D6194ED96D211C3EE86775AB0AA8FAE503604AC7FB039B8C981A9A2F1C8F2',NULL,NULL,1795605161409,1795605165136);
INSERT INTO "secrets" VALUES('2bc732bb-5edd-440b-9043-07b6aa1206f9','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','94d476f9-606c-40d8-929c-ae7360a89417','KEPT','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001A1001B406DB5D25E3F98D819CCBCA883B782F6D35F26E7C41676DDD59DF3BBE9256565808D76C3B348514EF5',NULL,NULL,1795605161432,1795605161432);
INSERT INTO "secrets" VALUES('47d1748f-488a-48ec-9e33-d7c9569ae4b3','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','94d476f9-606c-40d8-929c-ae7360a89417','REMOVED','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000016626EDC02BA34C018CEF11C162BAA4FC607A37442D2AAA53710A8477810AD7ADB790186A7C851207DEB0D8D42D19D1',NULL,NULL,1795605161446,1795605161446);
INSERT INTO "secrets" VALUES('be21582a-3760-41da-95f7-763d6cdacc73','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','94d476f9-606c-40d8-929c-ae7360a89417','TEXT','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000017328CC7C4187D90C452ABA309E6D2DABBE0B2287E1DC502F11717D33EDF3F54F30E3302AE6FD95511D0A13C42E4CEA22D880A42DE84123B926FFB0F2E6',NULL,NULL,1795605161460,1795605161460);
INSERT INTO "secrets" VALUES('6dc94d4b-21e5-4124-bc8e-105f6bc19901','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','6336fb60-c29a-4aa1-aef3-aed8085ad588','CHANGED','',2,X'01504629CA928A4927A9DDC86F0A7199C4000000011A7EDF21DE07630C05CF4E4FDE6CC34BC28CDD8A8D60E11047E185AFB2AAF9CA6923A7E927382D557CB36B81BAE41CAB611B6790DC',NULL,NULL,1795605161715,1795605165316);
INSERT INTO "secrets" VALUES('2f53cdac-4144-4c2b-bdf2-4c4db4ef477c','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','6336fb60-c29a-4aa1-aef3-aed8085ad588','KEPT','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000010632D24E0BB9C77702EAE5F32EFE666B98F4F691E34974E2E0A619B29A135FD18064ADDA71E8DCD3781DB3B0750C05A065D5F9',NULL,NULL,1795605161757,1795605161757);
INSERT INTO "secrets" VALUES('ed4e6513-e314-409b-a464-791f07093d5e','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','6336fb60-c29a-4aa1-aef3-aed8085ad588','REMOVED','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000017F2695B9B9A4177783DB47ECBB0339A576C2F1736BEA690937EE74A0662191C44101044938BCAC2DCF21DD08061BC08278CED66330F8',NULL,NULL,1795605161840,1795605161840);
INSERT INTO "secrets" VALUES('b09f455b-96e5-469f-8146-6de3b8fa5c1b','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','6336fb60-c29a-4aa1-aef3-aed8085ad588','TEXT','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000017036EF22EDB6BB47ADDA53E270355A0F708340D04574A0405850DDC3CE628E8F3B6510FEDE19B2FE7E54EA15E41E4DD9DD2F92',NULL,NULL,1795605161865,1795605161865);
INSERT INTO "secrets" VALUES('35086062-c2b8-41cf-bae6-ce4e95efc687','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','dd224fce-2c99-486c-98d1-f2879da76d8a','CHANGED','',2,X'01504629CA928A4927A9DDC86F0A7199C4000000017E9390A5CC961E31C9E047703C9AB5CF35E6B271C9A7912999F3D45517FB8F59F547DAFB48EF05C6311DFDA4A7A01A12',NULL,NULL,1795605161995,1795605165447);
INSERT INTO "secrets" VALUES('5dc3d6a4-e050-4c25-a389-53205e24218b','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','dd224fce-2c99-486c-98d1-f2879da76d8a','KEPT','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001AEACB060786756849E173578439EC50B261AA3F499FB443DAE61B6797907D431FDF6824FB678708E3913019EB283',NULL,NULL,1795605162032,1795605162032);
INSERT INTO "secrets" VALUES('ff886c7d-2685-4a32-bf3f-5b0443d6b697','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','dd224fce-2c99-486c-98d1-f2879da76d8a','REMOVED','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001C276CEC3908DC4CD91B9C810CFFADEE00A802840813AFCD9C737CE4B582A377FB96A9AF8B0163133631A72621100730D0E',NULL,NULL,1795605162078,1795605162078);
INSERT INTO "secrets" VALUES('a0e1ac17-a206-4213-9f53-9d1c8170ca69','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','dd224fce-2c99-486c-98d1-f2879da76d8a','TEXT','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000019F817F722B47FB9322A0E2C321A164C92A14815E5BE417F93D8B2F5CE5752468FB68590DE00B2FB53D33F11D9D258D52FCA221F8EDABFDFAF2F573EA138862',NULL,NULL,1795605162141,1795605162141);
INSERT INTO "secrets" VALUES('a06dce14-ec67-432f-bcbe-f59f918bea24','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','cdb43460-8bee-42aa-92db-dc31c2243bab','CHANGED','',2,X'01504629CA928A4927A9DDC86F0A7199C4000000018306CB896AD0025DD9C2F5D11D337D5651FA99EEE6EE41002708ECCC2BBD69E0C52F23A1A954293D59BB425066',NULL,NULL,1795605162293,1795605165558);
INSERT INTO "secrets" VALUES('71b7a627-e9be-4df6-990d-14cf960f2746','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','cdb43460-8bee-42aa-92db-dc31c2243bab','KEPT','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001CB5AB92A7882B5EB7DE92ED1FD5BF6601A04A9C096331BCBF44D318901202FDC645AEF4F27E12369F394F4',NULL,NULL,1795605162339,1795605162339);
INSERT INTO "secrets" VALUES('cf29ab6e-5e1d-4455-bbaf-c4edab1d5b5f','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','cdb43460-8bee-42aa-92db-dc31c2243bab','REMOVED','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001F68C04A17DEFDF243FA549DFFB6A1AF28DA4E16C1F25E7B1E98B3F0F74E169108EAB0385C48786725AAF40BF1C3D',NULL,NULL,1795605162396,1795605162396);
INSERT INTO "secrets" VALUES('a753c16b-36c1-42be-bb85-8bab03b9fd6c','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','cdb43460-8bee-42aa-92db-dc31c2243bab','TEXT','',1,X'01504629CA928A4927A9DDC86F0A7199C40000000196BDB6E31686CD66B06725DCA5A983A0CE06AB62863738BB895160BA4F43B041DC626A164103236F68D7BF5AA0B59E648E15936EB3BD960D61CB7F25',NULL,NULL,1795605162422,1795605162422);
INSERT INTO "secrets" VALUES('78b16b32-fe59-4db2-b369-bf32ece7edef','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','3aa1a02d-75fa-498e-b194-77a3ae1f4970','CHANGED','',2,X'01504629CA928A4927A9DDC86F0A7199C400000001C79B4F6F44909AFA01B42E226A392176837A781FD184BD688B57CBAA187B01C76A0C50B555B2B02B577B06',NULL,NULL,1795605162554,1795605165676);
INSERT INTO "secrets" VALUES('d09c31c2-80ec-43bc-ba9c-182d42a88d18','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','3aa1a02d-75fa-498e-b194-77a3ae1f4970','KEPT','',1,X'01504629CA928A4927A9DDC86F0A7199C40000000191D38254C8609B26A8BA226E49915C9F0674A7594AE8B597A1D628B0742E7A1F8DC7902B38BE5FEC36',NULL,NULL,1795605162583,1795605162583);
INSERT INTO "secrets" VALUES('d7e5068e-6ed1-44e8-a944-81b41121043b','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','3aa1a02d-75fa-498e-b194-77a3ae1f4970','REMOVED','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000019A97C3905C7E98BD787EF29D6606F80D25E69D3C17FD75BDB8EDF83B7E655349F7F7D2D6F508E9B8E16F4D57',NULL,NULL,1795605162628,1795605162628);
INSERT INTO "secrets" VALUES('f9515645-76f6-4e38-8ccb-1b929452e76e','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','3aa1a02d-75fa-498e-b194-77a3ae1f4970','TEXT','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001D73BBDC62CE6F4E59DEA0C8BE1723A01FDDB1FBBFB7C52ADEAEFF848EEBF3702B258E2C77D156055A2A1D960F8221B929A4282330AFCC1893135',NULL,NULL,1795605162657,1795605162657);
INSERT INTO "secrets" VALUES('d4996495-e4f3-4ebc-b5f3-34f8c5b36b5e','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','d1dc0f9f-4f0c-4dfa-8db3-d34d506550c9','CHANGED','',2,X'01504629CA928A4927A9DDC86F0A7199C400000001B6EDCDA68E4B7C71333A3F617C4925141E9A2B077E812B4E1D421BD6D42E0D503E00B0137C8E2BA9ABA8DC2C46D1E8FA979B',NULL,NULL,1795605162868,1795605165823);
INSERT INTO "secrets" VALUES('7e41a06f-33c0-48e7-a07a-7d9202958966','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','d1dc0f9f-4f0c-4dfa-8db3-d34d506550c9','KEPT','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001CD840CF3258834BC14D6C341798D1ADB58C566693C67E629E931A3CF48F179A38F3B671DB3EF425C42608D0722D28313',NULL,NULL,1795605162920,1795605162920);
INSERT INTO "secrets" VALUES('fbdaf84c-5abb-4e5d-a894-c805827f756e','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','d1dc0f9f-4f0c-4dfa-8db3-d34d506550c9','REMOVED','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000016D2174FB9182A3EAAC29AF779FA1D61FD576BDFE0521F80CD39AB6683EDCFD176916B1F31DB513979442374A9C3034F44482EB',NULL,NULL,1795605162976,1795605162976);
INSERT INTO "secrets" VALUES('ecefe43f-a3a6-41ea-a27d-6475af6f0864','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','d1dc0f9f-4f0c-4dfa-8db3-d34d506550c9','TEXT','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000011F0929C7B8114656E7C26505E452EF841D7640FDFA9C6983E0AA524D2EDD948B7860B4CF0E14ED639EE122CE0C20CDAEFC307B0C13107C7106C20E6A464D999741',NULL,NULL,1795605163004,1795605163004);
INSERT INTO "secrets" VALUES('11e10895-6477-4b2a-9184-8b90f64e201c','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','3a4a0a99-0e3e-4738-bda7-f5951181c802','CHANGED','',2,X'01504629CA928A4927A9DDC86F0A7199C400000001792820E94B710FD973D5F006DCBD23F2E068D026FFA8B64DF3853E9DEA7007C4FD8387E029EBD89C10950889A4E06C',NULL,NULL,1795605163208,1795605166000);
INSERT INTO "secrets" VALUES('b5320420-7130-4d51-a7b8-e603211e3da3','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','3a4a0a99-0e3e-4738-bda7-f5951181c802','KEPT','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001CAB5CB195D045BCE346BC07A5834A96FA2724EDC02B9D673303A1D30E44D5950A394490CA876415A1B0757D11E',NULL,NULL,1795605163242,1795605163242);
INSERT INTO "secrets" VALUES('41fb7049-cf8b-4dc3-a6ae-f8c2b0342ac9','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','3a4a0a99-0e3e-4738-bda7-f5951181c802','REMOVED','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001A28BE0476D7E40C2C526B7CC788971C4326AF3B35E3D5CF7CA6CC7D1D3606B6F24D312751EB0FD40579465C85023C911',NULL,NULL,1795605163308,1795605163308);
INSERT INTO "secrets" VALUES('2560f80b-4e70-4113-a7aa-e4d662b22934','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','3a4a0a99-0e3e-4738-bda7-f5951181c802','TEXT','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001DC306CC0DC9E248D1EE25C619BD1888FDEF4F8E6F59FEC79A14EBE30A6733AB75C4EA4BF839FF74EAC95F3A7973C3854C5660B07E38C47E6AF297C56372A',NULL,NULL,1795605163329,1795605163329);
INSERT INTO "secrets" VALUES('6949b47d-626c-4a58-8d0f-4e0ce7d72f9f','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','7da57d39-eda9-4e33-b990-88e57a27a4e6','CHANGED','',2,X'01504629CA928A4927A9DDC86F0A7199C400000001B7D8C98859F6D480C82444A5D4A2CFC24091038069C53AFF13E047ECFC01B818B4E303F4A39078E1600AF070',NULL,NULL,1795605163674,1795605166166);
INSERT INTO "secrets" VALUES('2d9e5b01-06d5-486a-8085-4902f52b7836','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','7da57d39-eda9-4e33-b990-88e57a27a4e6','KEPT','',1,X'01504629CA928A4927A9DDC86F0A7199C40000000108D417FBDD841F5D253A5617AEDD7C1FD2D87270336F15A6AD43E484BBF0564E73B9CFB84CA3ADE97D11',NULL,NULL,1795605163732,1795605163732);
INSERT INTO "secrets" VALUES('ede22ace-7d18-4ab0-b2c0-3794aa1dff65','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','7da57d39-eda9-4e33-b990-88e57a27a4e6','REMOVED','',1,X'01504629CA928A4927A9DDC86F0A7199C40000000184AB90B503A4A87C956CDA7AB2C9DEC5D372FABAF5D7B0FBD3F16C2BACFCD910230CCD9A670FE27FA966B9C3CE',NULL,NULL,1795605163790,1795605163790);
INSERT INTO "secrets" VALUES('15e7304b-8ee2-4e92-945d-2ab971807575','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','7da57d39-eda9-4e33-b990-88e57a27a4e6','TEXT','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001C7BE8DE11FF70BC13AD9027E1F076D43606E716C75A2D5B4E55CA232261DDA4CADF4A0128D8325D1626943F009823A6CA79C05AE6808A8DA55AF33',NULL,NULL,1795605163867,1795605163867);
INSERT INTO "secrets" VALUES('8dad2c55-9bcf-4e1a-93cf-2121788d4945','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','ab9185c2-9a14-4e63-bc44-824e5aa24416','CHANGED','',2,X'01504629CA928A4927A9DDC86F0A7199C400000001645A6C924A2589389E67C0CAE1442AFB9138ABDD7EAE40C48B56FF8490C5E8645D9C172A3CC6E6228FDB85133E',NULL,NULL,1795605164059,1795605166330);
INSERT INTO "secrets" VALUES('1b966e47-3d1a-4d4e-aab1-05eb21805220','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','ab9185c2-9a14-4e63-bc44-824e5aa24416','KEPT','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000015052A4467C1BCA6FE52FEF872AF0A318684F2865286D02768815426A352096A2208070B135EFA26E5F3F36',NULL,NULL,1795605164115,1795605164115);
INSERT INTO "secrets" VALUES('89811dca-ed2b-4687-93d9-fc6e2271e030','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','ab9185c2-9a14-4e63-bc44-824e5aa24416','REMOVED','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001520DA3C2CBE73F00617E303CA4809586E22D0DD09D2D5F995784BF8F597718677F49B122595A9F9F38220094A759',NULL,NULL,1795605164138,1795605164138);
INSERT INTO "secrets" VALUES('de11c126-5973-4f88-87c5-d155c7e04973','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','ab9185c2-9a14-4e63-bc44-824e5aa24416','TEXT','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001B67E019597DCC17B2F4F4F2A2DF4F0D87C22913D60F1B52AA91FB075A26BE797C2EE1B1B9C2CBB5263ECB725B8654E34F08BD515C0754C9A645A63CA',NULL,NULL,1795605164170,1795605164170);
INSERT INTO "secrets" VALUES('b161f483-da99-4d94-a454-a7dfa5121884','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','dd42fcb4-5f38-4690-bb7d-e05e3158a719','CHANGED','',2,X'01504629CA928A4927A9DDC86F0A7199C4000000015932E9F688BE4B33A50AA92EAF6DFC5D929614403380A26A368D09F74241E4905A07F31E1A588010597AD8FCB6',NULL,NULL,1795605164304,1795605166526);
INSERT INTO "secrets" VALUES('d859e657-ba15-4eb6-9545-af7aa2e1f60c','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','dd42fcb4-5f38-4690-bb7d-e05e3158a719','KEPT','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000013F67FD16F64BB28BA1CDCD363405D7D5AFEFF4BEE4002B5530E21B9B1CAD655FA7691A82A92EE31E6A60D1',NULL,NULL,1795605164343,1795605164343);
INSERT INTO "secrets" VALUES('2475ab91-0903-4e00-8f90-09510aae6ee1','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','dd42fcb4-5f38-4690-bb7d-e05e3158a719','REMOVED','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001DDBFB7C1CF5614ABE983901C10AFDAD8FB34993F60CBA0CCD17238D6806A0F1A010510B1B4030001379CADF553BD',NULL,NULL,1795605164429,1795605164429);
INSERT INTO "secrets" VALUES('d85a1bdc-e74f-4ec9-9483-bbdb2ac6fdb7','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','dd42fcb4-5f38-4690-bb7d-e05e3158a719','TEXT','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000011B0CD1266C959A33E02289995B3C978373431A47A2FB8BD2224189752934DCE1E64F67D0433443E6862A90B695A8C0532268AD92580A04BE0D43E570',NULL,NULL,1795605164451,1795605164451);
INSERT INTO "secrets" VALUES('39e1e2d1-6420-4dbc-af42-4d2f43839796','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','45394465-5367-4d52-8c06-1a2dd7fb630d','CHANGED','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000013258BE659DA6B075E511A593DC6801CB8620B297616BDA59D8CB8C7EACE562937FD13F406987273727B6F9D2',NULL,NULL,1795605166709,1795605166709);
INSERT INTO "secrets" VALUES('a4e798a3-a439-49cd-b580-e09480ea5c0e','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','45394465-5367-4d52-8c06-1a2dd7fb630d','KEPT','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000018C739DE9B238E612E46DDBD617EA7A7E9375636022AA51B762AB747ADC79CEEDC5FDBF86244DEB44B3C4CE',NULL,NULL,1795605166730,1795605166730);
INSERT INTO "secrets" VALUES('a049e20d-1af4-4001-8669-4423bcfbff3d','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','45394465-5367-4d52-8c06-1a2dd7fb630d','REMOVED','',1,X'01504629CA928A4927A9DDC86F0A7199C4000000012C801FD522D6BBCDE84D77B8616094BA21135816F7CB18654BCE61DD7DE641B4CBAB4FEE1D260EC2A63892365C34',NULL,NULL,1795605166756,1795605166756);
INSERT INTO "secrets" VALUES('1dff8fab-c264-4b8d-b71c-c1b5a80031af','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','45394465-5367-4d52-8c06-1a2dd7fb630d','TEXT','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001F0C77D4645EAFD5996107C4D6B48C3831826326794EB29B53D6CC9899BE62AE3572467F7F80F18BDB833567576AA9F3796BBB1EAA2E021A00601389F',NULL,NULL,1795605166780,1795605166780);
INSERT INTO "secrets" VALUES('17656aad-dafb-4e45-95ef-fef49af4904d','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','cfed4af4-109f-428a-b63b-aebb611880ad','CHANGED','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001A1536A4F241E1A0B740276D39D8C5AF4D33EC5C31A24591321F7EFDD7B42222A6DD9692A99F10480A57AEDC3D9',NULL,NULL,1795605166956,1795605166956);
INSERT INTO "secrets" VALUES('d76b18be-25f1-457c-a279-f103468e6658','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','cfed4af4-109f-428a-b63b-aebb611880ad','KEPT','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001074CFBBF78C12105D8B56F3A46637920527AD53A71F0C33B8C28AFC7E7ADE7588B0426C93F7F8EA150F54AAE',NULL,NULL,1795605166973,1795605166973);
INSERT INTO "secrets" VALUES('9f8adcae-49e0-4425-9f6b-af718aa6c86f','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','cfed4af4-109f-428a-b63b-aebb611880ad','REMOVED','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001DA1B1D400D218CF3F1C6EE03F9C00B72C716A36840E91961FE417CE7E61E575C699B729A52BD229CCB3A900E7B57DD',NULL,NULL,1795605166997,1795605166997);
INSERT INTO "secrets" VALUES('a0edc7a3-b4cc-4837-a369-4b187a2e5fa5','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','cfed4af4-109f-428a-b63b-aebb611880ad','TEXT','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001F34C9F3C490A230E21A2EB1039722CB2D1B74C691B733421FA67EE6269DB18E905B9BA2D2102B478462816504E313761CF3BC7E7217BAD9D61502081C1',NULL,NULL,1795605167020,1795605167020);
INSERT INTO "secrets" VALUES('cb1e1d3c-a4db-4a95-8c88-bb6d28fa5983','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','0e61a7b5-7886-4d23-95ed-fbc5ec4ffd9e','CHANGED','',1,X'01504629CA928A4927A9DDC86F0A7199C40000000137AF2DDDE7FB2A82A306132A1DE32C59226DB4F2025F0086476ACBC2545D0681B35D4AAADBC42ACF2CF7C30BE5',NULL,NULL,1795605170488,1795605170488);
INSERT INTO "secrets" VALUES('2207ca94-1d32-4967-ad40-29693d6df408','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','0e61a7b5-7886-4d23-95ed-fbc5ec4ffd9e','KEPT','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001E8875A4E2032D76E6B970E630AAEA74399CB601999B95C1EEA1946B9CD8ADC8D74F6ED1B0BF2D0575278094D',NULL,NULL,1795605170505,1795605170505);
INSERT INTO "secrets" VALUES('9e62de65-0848-4b3b-9221-c82fc57ee733','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','0e61a7b5-7886-4d23-95ed-fbc5ec4ffd9e','REMOVED','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001A01A10A49F878C3CFBBA1CBE8E51EFA99216FFD201D72C2973EB6759F163EB50FB619D121A9483869A9363A985C104',NULL,NULL,1795605170538,1795605170538);
INSERT INTO "secrets" VALUES('0244a914-ee5a-4c41-a824-ecc19c46890c','2eaaae46-9f73-43c8-bdc6-5435d5a7485c','0e61a7b5-7886-4d23-95ed-fbc5ec4ffd9e','TEXT','',1,X'01504629CA928A4927A9DDC86F0A7199C400000001EE7D8BC4CE93D3E11AC8FBCC4A2E0FED00C06A23C2FEBE4DA5EFD3BA117F4734677FB6FC167B5BDD400C5C6564713EE419A3DFCFF269D7BDCCD10375A3',NULL,NULL,1795605170559,1795605170559);
CREATE TABLE server_keys (
	name VARCHAR(64) NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	wrapped BLOB NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_server_keys PRIMARY KEY (name)
);
INSERT INTO "server_keys" VALUES('token signing','c62d3206-38e7-4bd6-8099-9ae0ab3b7d94',X'017DBB61EB41EA0A1BDF57B42D57229DB000000001789FBE34A2AF091F21545140B0F1D577F47C7498C32B7A5AC5BDA3E2E0897406480326AA8AA47E606C9E0C0B5B3E86EEBC9C5CF89F7205F6129AE517',1795605160962);
INSERT INTO "server_keys" VALUES('credential digest','f6327969-a475-4aa0-b1d2-b1675701aa92',X'017DBB61EB41EA0A1BDF57B42D57229DB00000000181D7B28AC28185809C61B2F621AAB05E4030F0384C001845AEDF293F14F491A9BC95E10DDECF12A1ED306F9652DAC30158D627E479D0745433F221FE',1795605160964);
INSERT INTO "server_keys" VALUES('entity tags','34992ec2-6054-4e2e-9fe1-ad4d158a3aa6',X'017DBB61EB41EA0A1BDF57B42D57229DB00000000143E99605E0718C390E062A6415D1DF7739063BD57D267C321B06EAF3943938A855C112D7E5CE2E39A5880568A4DD4BA9F019FB21B3DB141344641BA8',1795605160965);
INSERT INTO "server_keys" VALUES('sync digests','f74c38a2-dfdc-4b16-9035-bffccf77612e',X'017DBB61EB41EA0A1BDF57B42D57229DB000000001E8AD6A3FA9DEB3AD7FFBFD65817D5A092A5F4F3A026891B8EC2C992C19405B576F824A4DA4DEDC0B18E29ED86B18C62C9031BE946B1B618B03F0509F',1795605160967);
INSERT INTO "server_keys" VALUES('auth methods','a672a90d-b182-4a7e-bc5d-1a1fe3731691',X'017DBB61EB41EA0A1BDF57B42D57229DB000000001C4762F353869EA18772D4A744100415E31EC7274662F6E06DE17A2531D97AC8C8179A2161DA37528FBD3815CD5710AABAA25E3F0D34E6B2A9B08864D',1795605160969);
CREATE TABLE sync_jobs (
	id VARCHAR(36) NOT NULL, 
	sync_id VARCHAR(36) NOT NULL, 
	connection_id VARCHAR(36) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	is_running BOOLEAN NOT NULL, 
	attempt INTEGER NOT NULL, 
	parameters JSON NOT NULL, 
	due_at BIGINT NOT NULL, 
	claimed_by VARCHAR(36), 
	lease_ends_at BIGINT, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_sync_jobs PRIMARY KEY (id), 
	CONSTRAINT fk_sync_jobs_sync_id_secret_syncs FOREIGN KEY(sync_id) REFERENCES secret_syncs (id) ON DELETE CASCADE, 
	CONSTRAINT uq_sync_jobs_sync_id_kind_is_running UNIQUE (sync_id, kind, is_running)
);
INSERT INTO "sync_jobs" VALUES('1be78bbd-731b-40a1-b5a5-a8b4b3b7bf60','0453507c-9fee-4b9e-859d-04798a1c0e88','7efc9031-56d8-4359-9eba-48ff9627b41b','sync',1,1,'{}',1795605170628,'4985b04b-60f4-47a2-9a67-8ed3bb3e75bb',1795605230649,1795605170628);
CREATE TABLE sync_pushes (
	sync_id VARCHAR(36) NOT NULL, 
	name TEXT NOT NULL, 
	digest BLOB NOT NULL, 
	remote_version TEXT, 
	CONSTRAINT pk_sync_pushes PRIMARY KEY (sync_id, name), 
	CONSTRAINT fk_sync_pushes_sync_id_secret_syncs FOREIGN KEY(sync_id) REFERENCES secret_syncs (id) ON DELETE CASCADE
);
INSERT INTO "sync_pushes" VALUES('90118b43-4464-4d41-9434-de8193f03cd3','KEPT',X'066B837F71AE65F4B6B13F987E2655D904F21577F44678C4DFB4DE02042EA0B2',NULL);
INSERT INTO "sync_pushes" VALUES('90118b43-4464-4d41-9434-de8193f03cd3','REMOVED',X'F429F2FADBBEDB29872BC534FE40746E96C1EA708CB0E40D6D2E539EF9EF8854',NULL);
INSERT INTO "sync_pushes" VALUES('90118b43-4464-4d41-9434-de8193f03cd3','TEXT',X'EFD6DB6F328FA2962EC293B2743705C354462E71EE3B65314FD5602A17557E67',NULL);
INSERT INTO "sync_pushes" VALUES('dae5ac87-dbb0-4716-98dc-f54e96330e0e','KEPT',X'CD3153810DCF8433DB360AB71E61DA3A2C2ED77FB2FA1EA4E0467FD3521051D2','2026-11-25T11:12:42Z');
INSERT INTO "sync_pushes" VALUES('dae5ac87-dbb0-4716-98dc-f54e96330e0e','REMOVED',X'1DB67BEF527D6C56F2F79448E3458FCED35B1741E3CA830A6B8671D47D9527BF','2026-11-25T11:12:42Z');
INSERT INTO "sync_pushes" VALUES('dae5ac87-dbb0-4716-98dc-f54e96330e0e','TEXT',X'0FB1E5144E6B5817A3215CD8465CEB679715C3667561D69349F12BFA19CCBDA3','2026-11-25T11:12:42Z');
INSERT INTO "sync_pushes" VALUES('1330f75d-3e95-4f45-9922-41578dc7cff4','KEPT',X'DC125A62A3F1DCF0C3ADB518E74DAA1B50900C76BEC47717CCA6B988C70A7DDD','00000000000000000000000000000001');
INSERT INTO "sync_pushes" VALUES('1330f75d-3e95-4f45-9922-41578dc7cff4','REMOVED',X'02DA0E580C80FC943081DEE93BD1222F985FE20442D661C66B6C800B98276CFA','00000000000000000000000000000001');
INSERT INTO "sync_pushes" VALUES('1330f75d-3e95-4f45-9922-41578dc7cff4','TEXT',X'EC3CC8AC3D60878819D6A4E054AE5A600ACA73D2C2567D68AC361668B0743DD6','00000000000000000000000000000001');
INSERT INTO "sync_pushes" VALUES('fa0322a8-1a49-452f-8d2b-31a3e969824f','KEPT',X'E290B592E07C16FC427BD0AFF046ADF2CFD6E6993B9DD267156D9021BB0C862D','1');
INSERT INTO "sync_pushes" VALUES('fa0322a8-1a49-452f-8d2b-31a3e969824f','REMOVED',X'7884A9C753D7D563EE1CC8C1085BC6AA84C99537BC7CA296845150B06038C111','1');
INSERT INTO "sync_pushes" VALUES('fa0322a8-1a49-452f-8d2b-31a3e969824f','TEXT',X'5CE4A20631772BB7BBA19A9026C466405F9CB422984B91C0DD96C0B48A6F3DC6','1');
INSERT INTO "sync_pushes" VALUES('455dca6e-8c49-435e-97fa-f5212d3cc307','KEPT',X'B2E7E2C18C89C976A386F9A0E00A23F6294DBCCEC44CC7A42FA25A9AC450B543','1');
INSERT INTO "sync_pushes" VALUES('455dca6e-8c49-435e-97fa-f5212d3cc307','REMOVED',X'37C8050655E25096AE44A45A871CD033FB59706051219032E1DEB2FCFE47A692','1');
INSERT INTO "sync_pushes" VALUES('455dca6e-8c49-435e-97fa-f5212d3cc307','TEXT',X'951B17A66A6EDC08E870C8644CEC4D6DA4477C4F05AF4FC3105302F21E2F491F','1');
INSERT INTO "sync_pushes" VALUES('f66c2efc-ff53-4d39-99b8-e06d02fe45e2','one-KEPT',X'8572AEA3CD188146453DCC15CF2A20A7C2C8EEB3F9A9A71AB0AFEC796478ECD2','79366d46-7b64-4a40-8ef9-4472d8e6b1c2');
INSERT INTO "sync_pushes" VALUES('f66c2efc-ff53-4d39-99b8-e06d02fe45e2','one-REMOVED',X'D179F01EC29D073C0909AA11B1AF3955AFBDF571B0ADB1D0556D3209F4BE8603','d856c526-b463-41fe-8642-8ecf8827923b');
INSERT INTO "sync_pushes" VALUES('f66c2efc-ff53-4d39-99b8-e06d02fe45e2','one-TEXT',X'903B3E0AEA8CDFC22C9F094F7F80E924032BD70151A1251407FB26BED00B5A63','12063a43-9bdf-40e8-87a7-4ccfb258a391');
INSERT INTO "sync_pushes" VALUES('e4476447-be91-4df1-a114-f01fc1a65180','KEPT',X'5F2914F5AB4F7E2F82FD19EF63A382347D9BB533042649A86A14393BCD104E3F','f5f6ca30-01e4-4a39-8712-079087e793f8');
INSERT INTO "sync_pushes" VALUES('e4476447-be91-4df1-a114-f01fc1a65180','REMOVED',X'F19309C77792F9E49B51FCDD15B4B0E0ADA948E6264555B8B4D2BDFC1B2320BB','f5f6ca30-01e4-4a39-8712-079087e793f8');
INSERT INTO "sync_pushes" VALUES('e4476447-be91-4df1-a114-f01fc1a65180','TEXT',X'A05F363866DEBB05738B75A873693586C487734BC414C5B7A8DC8758128B3B7A','f5f6ca30-01e4-4a39-8712-079087e793f8');
INSERT INTO "sync_pushes" VALUES('657e777d-249e-4a8e-905d-12c47b4875cb','KEPT',X'124D4620CDE976DD8FDA490F21638FFE3F2F2E64D945DA6F8BC1C0B426222658',NULL);
INSERT INTO "sync_pushes" VALUES('657e777d-249e-4a8e-905d-12c47b4875cb','REMOVED',X'BE38F5F01FC5465CAB104E7EDDFF47A1699300F9E7872F9C8AD1526D77F1AC03',NULL);
INSERT INTO "sync_pushes" VALUES('657e777d-249e-4a8e-905d-12c47b4875cb','TEXT',X'7F8F27CFB86472DC35D0DBC9027E9E02BAC5043B06EAF1869952B59DA7C7933B',NULL);
INSERT INTO "sync_pushes" VALUES('01c54bef-7888-4b47-b0fc-646a2d7729ab','KEPT',X'CCCD1E29588AB97392F96C94155E8BB73327D2E1D5BF693AD683D9D110767638','1');
INSERT INTO "sync_pushes" VALUES('01c54bef-7888-4b47-b0fc-646a2d7729ab','REMOVED',X'7A25AFB3764755064B8BA6AAF65028C05D8A563F1363675BD972DA1E26B34AA0','1');
INSERT INTO "sync_pushes" VALUES('01c54bef-7888-4b47-b0fc-646a2d7729ab','TEXT',X'48C701280598C6719ABE7806C3D76E09645F0F2A1EA4CCF25640CEABDA1C2E36','1');
INSERT INTO "sync_pushes" VALUES('8fc44000-ca57-46b0-bf62-ca61deb5664d','APP_KEPT',X'217DC3DAD73DEE0C67C1FF3B88AC26CA4DC796E87033227CDADB971EC39ECC94',NULL);
INSERT INTO "sync_pushes" VALUES('8fc44000-ca57-46b0-bf62-ca61deb5664d','APP_REMOVED',X'B5444E7BC33204F5D051451859B458984995BC0D0509E069158A39E0BE198B48',NULL);
INSERT INTO "sync_pushes" VALUES('8fc44000-ca57-46b0-bf62-ca61deb5664d','APP_TEXT',X'3B0E5877304B42E4DAEDBE7A11E0565DFAF409942482F00445E9A58460AE1C1F',NULL);
INSERT INTO "sync_pushes" VALUES('8fc44000-ca57-46b0-bf62-ca61deb5664d','APP_CHANGED',X'1243C716E40D0B9AE812D84D63B910943CB65B68A17B48CEC9DC909B0FD7938D',NULL);
INSERT INTO "sync_pushes" VALUES('90118b43-4464-4d41-9434-de8193f03cd3','CHANGED',X'89E741EF4EEB1BCE9A129DDE07AABEB0174290CB3E409116AFF320B06FD30234',NULL);
INSERT INTO "sync_pushes" VALUES('dae5ac87-dbb0-4716-98dc-f54e96330e0e','CHANGED',X'61FEDCEC549EF0783C30A9D1CBB13028221C3B0E69B391226236A2351E7A4728',NULL);
INSERT INTO "sync_pushes" VALUES('1330f75d-3e95-4f45-9922-41578dc7cff4','CHANGED',X'F3EBAF30CD46C2522C09D6414F60216B0CBDE4D3FD20E505B51361E353CAB5A7','00000000000000000000000000000002');
INSERT INTO "sync_pushes" VALUES('fa0322a8-1a49-452f-8d2b-31a3e969824f','CHANGED',X'6AB35BE07EEF4D1FF58BEEE3556619A0DAA3CC46FAC9F48120ED6AEAF663398A','2');
INSERT INTO "sync_pushes" VALUES('455dca6e-8c49-435e-97fa-f5212d3cc307','CHANGED',X'5E4DB4654F87C471C0A3842C55B11CBCF9803D26880EBAB4F570C721CF9C036F','2');
INSERT INTO "sync_pushes" VALUES('f66c2efc-ff53-4d39-99b8-e06d02fe45e2','one-CHANGED',X'422709F714558150C014A0E52C91CB9C92C77EF16F17AA78031D1745DAC8C57D','5ee042ce-6b15-456c-9cd9-f80c06ccdfb7');
INSERT INTO "sync_pushes" VALUES('e4476447-be91-4df1-a114-f01fc1a65180','CHANGED',X'47BEA2B57AEC4B5E929909DC0FEDEBD4D67591D708E9E12B28A2D4B0D4BFFC79','406f79a0-70ba-40d4-baa1-c2204e8d4464');
INSERT INTO "sync_pushes" VALUES('657e777d-249e-4a8e-905d-12c47b4875cb','CHANGED',X'F83AE35AA3A47793EBA8C39F416AC18828AFCF37E13A3B8BE2996C55CDFC7BC5',NULL);
INSERT INTO "sync_pushes" VALUES('01c54bef-7888-4b47-b0fc-646a2d7729ab','CHANGED',X'2E24567033DB156800AFEB37E2C069B1C3BEE929C84D8C0AFCB8A13012071250','2');
INSERT INTO "sync_pushes" VALUES('2b02f370-91b3-4106-b3f6-7f9e4a390ee1','CHANGED',X'24230F9F0B515A40E10ED0E038B016DA571B9689FCC76747BBDCA6997E756A97',NULL);
INSERT INTO "sync_pushes" VALUES('2b02f370-91b3-4106-b3f6-7f9e4a390ee1','KEPT',X'AFD3D17CAA79D0FCC107EBE4069A100062EA0A4054A69C94F834C4214FE36677',NULL);
INSERT INTO "sync_pushes" VALUES('2b02f370-91b3-4106-b3f6-7f9e4a390ee1','REMOVED',X'3AE1D7C1E1577580ADF93876F37B2ADAD8FB5172CA011EA86972C361F4A49521',NULL);
INSERT INTO "sync_pushes" VALUES('2b02f370-91b3-4106-b3f6-7f9e4a390ee1','TEXT',X'7BFDAF92DF53C81F6B713E3F24BA5DC0422DA993C29612F6AE50B395883CB419',NULL);
CREATE TABLE tags (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	slug VARCHAR(64) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	color VARCHAR(32), 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_tags PRIMARY KEY (id), 
	CONSTRAINT fk_tags_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_tags_project_id_slug UNIQUE (project_id, slug)
);
CREATE TABLE universal_auths (
	identity_id VARCHAR(36) NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	client_id VARCHAR(36) NOT NULL, 
	access_token_ttl INTEGER NOT NULL, 
	access_token_max_ttl INTEGER NOT NULL, 
	access_token_num_uses_limit INTEGER NOT NULL, 
	access_token_period INTEGER NOT NULL, 
	access_token_trusted_ips JSON NOT NULL, 
	client_secret_trusted_ips JSON NOT NULL, 
	lockout_enabled BOOLEAN NOT NULL, 
	lockout_threshold INTEGER NOT NULL, 
	lockout_duration_seconds INTEGER NOT NULL, 
	lockout_counter_reset_seconds INTEGER NOT NULL, 
	failures INTEGER NOT NULL, 
	last_failure_at BIGINT, 
	locked_until BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_universal_auths PRIMARY KEY (identity_id), 
	CONSTRAINT fk_universal_auths_identity_id_identities FOREIGN KEY(identity_id) REFERENCES identities (id) ON DELETE CASCADE, 
	CONSTRAINT uq_universal_auths_client_id UNIQUE (client_id)
);
INSERT INTO "universal_auths" VALUES('efe3312b-8210-4e18-a15a-56dc44615f97','e1c58385-8fba-4870-a196-813420bcbf8c','a86a46e7-e2e7-4305-813a-9b851766bea6',2592000,2592000,0,0,'["0.0.0.0/0", "::/0"]','["0.0.0.0/0", "::/0"]',1,3,300,30,0,NULL,NULL,1795605161078,1795605161078);
CREATE TABLE users (
	identity_id VARCHAR(36) NOT NULL, 
	email VARCHAR(254) NOT NULL, 
	first_name VARCHAR(64), 
	last_name VARCHAR(64), 
	password_hash VARCHAR(255) NOT NULL, 
	password_changed_at BIGINT NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_users PRIMARY KEY (identity_id), 
	CONSTRAINT fk_users_identity_id_identities FOREIGN KEY(identity_id) REFERENCES identities (id) ON DELETE CASCADE, 
	CONSTRAINT uq_users_email UNIQUE (email)
);
INSERT INTO "users" VALUES('b99a36e9-d4bc-47f7-aaa0-a5e323aa4145','old@example.com',NULL,NULL,'$argon2id$v=19$m=47104,t=1,p=1$ODN++oE06bHhpdzYtcF1Fg$RwBx2cfe1/YhR6Bi1M4tZraB+aZs/ZGWo2i+gBvAptE',1795605161319,1795605161319,1795605161319);
CREATE INDEX ix_identities_organization_id ON identities (organization_id);
CREATE INDEX ix_client_secrets_identity_id ON client_secrets (identity_id);
CREATE INDEX ix_access_tokens_client_secret_id ON access_tokens (client_secret_id);
CREATE INDEX ix_access_tokens_expires_at ON access_tokens (expires_at);
CREATE INDEX ix_access_tokens_identity_id ON access_tokens (identity_id);
CREATE INDEX ix_project_memberships_identity_id ON project_memberships (identity_id);
CREATE INDEX ix_folders_parent_id ON folders (parent_id);
CREATE INDEX ix_secrets_project_id ON secrets (project_id);
CREATE INDEX ix_secret_references_folder_key ON secret_references (folder, "key");
CREATE INDEX ix_secret_tags_tag_id ON secret_tags (tag_id);
CREATE INDEX ix_login_failures_expires_at ON login_failures (expires_at);
CREATE INDEX ix_secrets_owner ON secrets (owner) WHERE owner <> '';
CREATE INDEX ix_project_grants_project_id_identity_id ON project_grants (project_id, identity_id);
CREATE INDEX ix_project_grants_identity_id ON project_grants (identity_id);
CREATE INDEX ix_audit_log_organization_id_created_at ON audit_log (organization_id, created_at);
CREATE INDEX ix_audit_log_project_id_created_at ON audit_log (project_id, created_at);
CREATE INDEX ix_audit_log_created_at ON audit_log (created_at);
CREATE INDEX ix_secret_imports_folder_id ON secret_imports (folder_id);
CREATE INDEX ix_secret_imports_environment_id_path ON secret_imports (environment_id, path);
CREATE UNIQUE INDEX uq_app_connections_name_of_organization ON app_connections (organization_id, name) WHERE project_id IS NULL;
CREATE UNIQUE INDEX uq_app_connections_name_of_project ON app_connections (project_id, name) WHERE project_id IS NOT NULL;
CREATE INDEX ix_secret_syncs_folder_id ON secret_syncs (folder_id);
CREATE INDEX ix_secret_syncs_connection_id ON secret_syncs (connection_id);
CREATE INDEX ix_secret_syncs_destination_digest ON secret_syncs (destination_digest);
CREATE INDEX ix_sync_jobs_is_running_due_at ON sync_jobs (is_running, due_at);
CREATE INDEX ix_authority_certificates_parent_id ON authority_certificates (parent_id);
CREATE INDEX ix_acme_accounts_project_id ON acme_accounts (project_id);
CREATE INDEX ix_certificate_profiles_authority_id ON certificate_profiles (authority_id);
CREATE INDEX ix_certificate_profiles_policy_id ON certificate_profiles (policy_id);
CREATE INDEX ix_application_profiles_profile_id ON application_profiles (profile_id);
CREATE INDEX ix_enrollments_profile_id ON enrollments (profile_id);
CREATE INDEX ix_enrollments_project_id ON enrollments (project_id);
CREATE UNIQUE INDEX uq_enrollments_of_application ON enrollments (application_id, profile_id, kind) WHERE application_id IS NOT NULL;
CREATE UNIQUE INDEX uq_enrollments_of_profile ON enrollments (profile_id, kind) WHERE application_id IS NULL;
CREATE INDEX ix_pki_subscribers_authority_id ON pki_subscribers (authority_id);
CREATE INDEX ix_certificates_application_id ON certificates (application_id);
CREATE INDEX ix_certificates_authority_certificate_id ON certificates (authority_certificate_id);
CREATE INDEX ix_certificates_authority_id_is_revoked ON certificates (authority_id, is_revoked);
CREATE INDEX ix_certificates_fingerprint ON certificates (fingerprint);
CREATE INDEX ix_certificates_not_after ON certificates (not_after);
CREATE INDEX ix_certificates_profile_id_created_at ON certificates (profile_id, created_at);
CREATE INDEX ix_certificates_project_id_created_at ON certificates (project_id, created_at);
CREATE INDEX ix_certificates_public_key_fingerprint ON certificates (public_key_fingerprint);
CREATE INDEX ix_certificates_renew_at ON certificates (renew_at);
CREATE INDEX ix_certificates_serial_number ON certificates (serial_number);
CREATE INDEX ix_certificates_subscriber_id_created_at ON certificates (subscriber_id, created_at);
CREATE INDEX ix_certificate_requests_application_id ON certificate_requests (application_id);
CREATE INDEX ix_certificate_requests_authority_id ON certificate_requests (authority_id);
CREATE INDEX ix_certificate_requests_certificate_id ON certificate_requests (certificate_id);
CREATE INDEX ix_certificate_requests_due_at ON certificate_requests (due_at);
CREATE INDEX ix_certificate_requests_profile_id_created_at ON certificate_requests (profile_id, created_at);
CREATE INDEX ix_certificate_requests_project_id_created_at ON certificate_requests (project_id, created_at);
CREATE INDEX ix_certificate_requests_project_id_status ON certificate_requests (project_id, status);
CREATE INDEX ix_certificate_request_metadata_digest_request_id ON certificate_request_metadata (digest, request_id);
CREATE INDEX ix_approval_policies_project_id ON approval_policies (project_id);
CREATE INDEX ix_approval_requests_policy_id ON approval_requests (policy_id);
CREATE INDEX ix_approval_requests_project_id_status ON approval_requests (project_id, status, created_at);
CREATE INDEX ix_approval_requests_status_expires_at ON approval_requests (status, expires_at);
CREATE INDEX ix_acme_challenges_request_id ON acme_challenges (request_id);
COMMIT;
