-- The synonyms and abbreviations of the field that every marketplace starts with; operators edit them by PUT /admin/search-synonyms.
-- "a, b, c": all mean the same. "a, d => b, c": a also means b and c, which don't mean a, and so does d: a group for each.
insert into search_synonyms (position, term, synonyms)
select
  row_number() over (order by nth, term),
  term,
  regexp_split_to_array(btrim(regexp_replace(line, '^.*=>', '')), '\s*,\s*')
from regexp_split_to_table($synonyms$
telehealth, telemedicine, virtual consult, virtual consultation, teleconsultation, virtual care, virtual visit, video visit, video consultation, video call, video appointment, online consultation, remote consultation, online visit
e-visit, evisit, virtual visit
remote care => video visit, remote monitoring, home
rpm, remote patient monitoring, remote monitoring, home monitoring, telemonitoring
remote monitoring => home, therapy devices, home blood pressure
rtm, remote therapeutic monitoring
rtm => home exercise, therapy devices
hospital at home, virtual ward => remote monitoring, early warning
zoom => video
self scheduling, online booking, online scheduling, book online, patient self scheduling, web booking
scheduling, booking, appointment scheduling, appointment book, calendar
appointment => booking, visit, schedule
diary => calendar, schedule
double booking => schedule, slots
waiting list, waitlist, wait list, cancellation list, standby list, short notice list, short call list, quick fill list
last minute cancellation, short notice cancellation => cancelled slot, cancellation
fill empty slots, fill gaps => cancelled slot, unused slots
no show, missed appointment, did not attend, dna appointment, dna appointments, non attendance
no show => visit reminders, waiting list
forget, forgetting, forgot => reminders
appointment confirmation, confirm appointment, confirm appointments => visit reminders, confirm
appointment reminder, visit reminder, reminder call, reminder text, text reminder
reminder => reminders
sms, text message, texting, text
texting => messaging
patient texting, patient messaging, secure messaging, two way messaging, portal messages
whatsapp, chat => messaging, messages
email => messages
check in, checkin, self check in, kiosk, arrival, self service check in
front desk, reception, receptionist, front office
waiting room, lobby => check in, kiosk
ipad, tablet, tablets, touch screen
intake, registration, patient intake, intake forms, pre visit forms, digital forms, online forms, patient forms, questionnaire, clipboard
new patient paperwork, patient paperwork => intake, pre visit forms
registration => check in, demographics
demographics => registration
consent, consent form, informed consent
consent => signature, forms
advance directive, advance directives, living will, proxy, proxy access, power of attorney, patient permissions, permissions, permission, caregiver access, hipaa authorization => consents, wishes, family access
caregiver, family, carer => family
e-signature, esignature, electronic signature, digital signature, signature capture, esign, signature pad, sign pad
phone, telephone, call center, voip, ivr
phone system => telephones, phone line
billing, invoicing, invoices
billing => claims, statements, charges, financial, payments, revenue
biller, coder => claims, coding
rcm, revenue cycle, revenue cycle management, revenue
rcm => claims, denials, eligibility, statements, financial
carc, rarc, denial code, denial codes => denials
claims, claim, scrubber, claim scrubbing, claim scrubber, claims scrubber, claim edits
837 => claims
835, era, electronic remittance => remittances, denials
270, 271 => eligibility
clearinghouse => claims
clean claim, first pass rate => first pass acceptance, claims
denials, denial management, claim denial, rejected claim, denied claim
appeal, appeal letter => denials
eligibility, benefits check, benefit check, insurance check, insurance verification, insurance eligibility, benefits verification, verify insurance, coverage check, verification of benefits, vob
insurance => coverage, payer, eligibility
insurance card => cards
payer, payor, insurer, insurance company, health plan
owe, how much, what will it cost => cost estimate, statement
cost estimate, price estimate, good faith estimate, gfe, price transparency, out of pocket
no surprises act => good faith estimate, cost estimate
copay, copayment, co-pay, patient responsibility
payment, pay, paid, payments, card on file, patient payments, debt collection
accounts receivable, ar => claims, denials, statements
dunning, dunning letters, past due, payment reminder => statements, reminders
patient balance, patient bill, bill pay, patient statement, statement
self pay => cost estimate, payment plan
credit card, payment terminal => payment, pay
charge capture => charges, coding
coding, medical coding, icd, icd 10, cpt, e m coding, em coding, hcpcs, code assist
undercoding, upcoding => coding
superbill => charges
mips, macra, quality measures, quality reporting, hedis, cqm, ecqm, quality payment program, star ratings, qof
mips => registries, gaps in care
value based care, vbc, aco, accountable care, risk adjustment, hcc, raf
aco => population health, registries, care gaps
value based care => population health, quality measures, registries, risk
care gap, gaps in care, gap in care, care gaps
epidemiology, public health => maps, population health
map, maps, heat map, geospatial, gis, geography => maps
population health, pop health, panel management, registry, registries
recall => outreach, overdue
outreach, campaigns, recalls
risk stratification => risk, registries
awv, annual wellness visit, wellness visit
awv => gaps in care, preventive
preventive care, screening, prevention
screening, overdue, due => gaps in care, overdue
ccm, chronic care management, chronic care, pcm
ccm => care plan, care plans
tcm, transitional care management, transitions of care, care transitions, transition of care
tcm => discharge
adt, admission discharge transfer, hospital admission, discharge notification
adt => discharge, discharged
leave the hospital, leaves the hospital, left the hospital, sent home => discharge, discharged
came home from the hospital, home from hospital, out of hospital, post discharge => home from hospital, discharge
discharge, discharge summary, discharge planning
readmission, readmissions => discharge
hospitalist, inpatient, ward, hospital
case management, care management, care manager, case manager => care plan, care coordination, care plans
care plan, plan of care, care plans
care team => care coordination, team
referral, referrals, refer, referral management, referral tracking, consult request, e-referral, ereferral
specialist => referral
closed loop referral, close the loop => referral
sdoh, social determinants, social determinants of health, social needs, social care, community resources
sdoh => food, housing, transport
transportation, ride, rides, ride to the clinic, nemt => transport
handoff, handover, sign out, shift handoff
secure chat => messages between teams, messages
pharmacist, pharmacy => medication, refill, prescription
scribe, ai scribe, ambient scribe, ambient documentation, ambient listening, medical scribe, virtual scribe, ambient notes, ambient note, ambient ai
ai, artificial intelligence => ambient, draft, drafts
dictation, transcription, speech recognition, voice recognition, speech to text, voice to text, dragon
dictation, transcription, speech recognition => ambient notes, dictate
note, progress note, clinical note, soap note, clinical documentation, hpi, visit note
soap, dap => note, notes
note taking, write notes, writes notes, write my notes, writes my notes, note writing => ambient notes, drafts the note
operative note, op note, op report, endoscopy report, operative report, procedure note
template, templates, macro, macros, dot phrase, dotphrase, smart phrase, smartphrase, text expander, autotext, snippets, snippet, canned text, boilerplate
letter, letters => drafted
pajama time, burnout, after hours charting => fewer clicks, inbox, ambient notes
inbox, in basket, inbasket, inbox management, message pool, message triage, task list
click reduction, fewer clicks, shortcuts, shortcut, keyboard shortcuts, keyboard navigation, keyboard, hotkeys, automation
rpa, automate, workflow automation => automation, automates, fewer clicks
chart search, search the chart, find in chart => search
chart prep, pre visit planning, previsit planning, pre charting, visit preparation, visit prep, chart summary, chart review, record summary, summary of the chart, chart brief
chart prep, chart summary => brief, prepared
single sign on, sso, login, log in, password, badge tap => sign in, signs people in
fax, efax, e-fax, faxing, fax server, digital fax
scan, scanning, scanner, document scanning, ocr
scan => scanner
digitize, digitise, paper charts, paper records => scanned, paper archive
document indexing, indexing, filing documents => documents sorted, sorted, scanned
document management, dms, paperless, document imaging => documents, filing, archive
printer, printing, label printer, label, labels, wristband
barcode => labels, scan, codes
card reader, card scanner, id scanner, insurance card scanner, insurance card, photo id, drivers license, driver s license, driving licence
usb, driver, peripheral => scanner, printer, pads
lawyer, attorney, subpoena, legal request => record requests, release of information, lawyers
roi, release of information, record request, copy of the record, copies of records, records request, medical records request, record release, records release, chart copies
dsar, subject access request, sar => records request, release, requests
him, him department, medical records department => release of information, records, documents, archive
medical records => record, records
empi, mpi, master patient index, patient matching, duplicate records, duplicate patients, duplicate charts, merge records, patient identity
legacy data, data migration, archive, archiving, legacy ehr, legacy system, data conversion, old ehr
hie, health information exchange, interoperability, interop, record exchange, record sharing, tefca, carequality, commonwell, outside records, external records, ccda, c-cda, hl7, fhir
hie => exchange, records
records exchange => exchange
retention => archive, retention
staffing, staff scheduling, shift scheduling, rostering, roster, rota, shifts, on call schedule, on-call, call schedule, workforce
pto, vacation, leave, annual leave, time off
payroll, timesheet, hr, human resources => staff, shifts, hours
dea, dea registration, license expiry, license renewal => licences, credentialing
credentialing, credentials, provider enrollment, payer enrollment, licensure, license, licence, caqh, board certification, privileging, recredentialing
cme, continuing education, continuing medical education, cpd, ce credits
npi => clinicians, enrollment
inventory, stock, supplies, supply management, stockroom, inventory management, supply chain, purchasing, reorder
vfc, iis, immunization registry, vaccine registry => vaccine, immunization
cold chain => fridge temperatures, fridge
vaccine inventory, vaccine fridge => vaccines, fridge
expiry date, expiration date, lot number, lot
hipaa, compliance, privacy, privacy compliance, gdpr, audit, audits
hipaa => private, consent, security
osha, training, policy, policies => compliance, staff
huddle, daily huddle, morning meeting, team meeting, stand up, standup
dashboard, report, reports, reporting, analytics, bi, business intelligence, kpi, statistics, metrics
practice manager, office manager, practice management => practice, office administration, staff
eprescribing, e-prescribing, e prescribing, erx, electronic prescribing, electronic prescription, prescribing, prescription, prescriptions, rx, script, scripts, prescribe
eprescribing => refill, formulary, drug, medication
refill, refills, renewal, repeat prescription, refill request, prescription renewal, rx refill, repeat medication
drug, drugs, medication, medicine, meds, medications
formulary, drug coverage, drug price, rtpb, real time benefit, real time prescription benefit, rtbt, rtbc, drug cost, medication cost
epcs, pdmp, controlled substance, opioid, controlled substances
step therapy => prior authorization, formulary
insurance approval, approval from insurance, approval, approved => prior authorization
prior authorization, prior auth, pa, preauthorization, pre-authorization, pre auth, preauth, prior authorisation, epa, precertification, precert, authorization, authorisation
medication reconciliation, med reconciliation, med rec, medrec, medication list, med list
adherence, compliance with medication => refill, medication
interactions, drug interactions, drug interaction, drug safety => dose, doses, drug
allergy, allergies, allergic
dosing, dose, dosage, dose adjustment, renal dosing, doses
antibiogram, penicillin => antibiotic, resistance
antibiotic, antibiotics, abx, antimicrobial, antimicrobial stewardship, antibiotic stewardship, stewardship
infectious disease, infection, infections, uti, pneumonia, id clinic => antibiotic, resistance
sepsis, deterioration, early warning, early warning score, ews, news2, mews, rapid response
patient safety => early warning, safety
lab, labs, laboratory, lab results, lab orders, lab order, lis, pathology, lab test, blood test, blood tests, test results
phlebotomy, specimen, sample, tubes, specimen label
cpoe, order entry, ordering, orders, order sets, order set
results, result, result management, results inbox
imaging, radiology, radiograph, radiographs, radiologist, x-ray, xray, x ray, cxr, chest x ray, mri, ct, mammogram, mammography, dexa, scan images, diagnostic imaging, rad
pacs => viewer, images
pacs, dicom, dicomweb, image viewer, dicom viewer, imaging viewer, radiology viewer
ultrasound, sonography, echo
aucs, appropriate use, auc, appropriate use criteria => imaging orders, imaging
cds, clinical decision support, decision support, cdss, clinical guidance, best practice alert, bpa
cds => guideline, guidelines, alerts, evidence
guideline, guidelines, evidence based, evidence, uptodate, clinical pathway, clinical pathways
calculator, risk calculator, risk score, medical calculator
calculator => risk
ascvd, framingham, cardiovascular risk, cvd risk, heart risk, qrisk
alert, alerts, alarm, alarms, alert fatigue
heart, cardiac, cardiology, cardiovascular, cardiologist, cardio
cardiology => ecg, blood pressure
ecg, ekg, electrocardiogram, electrocardiograph, 12 lead, twelve lead
holter => ecg
statin, cholesterol, lipids => cardiovascular risk
blood pressure, bp, smbp, home bp, hypertension, hypertensive, htn, sphygmomanometer, bp cuff, blood pressure cuff, blood pressure monitor, high blood pressure
bp => cuff
vital signs, vitals, vital signs monitor
vitals => vital signs, measurements
spirometry, spirometer, pft, pulmonary function, lung function, pulmonary function test, breathing test
pulmonology => spirometry
lung doctor, lung specialist => spirometry
lung, pulmonary, pulmonology, pneumology, pneumologist, respiratory, asthma, copd, pulmonologist, respirology
scale, weight, weighing => measurements
glucose, diabetes, diabetic, dm2, t2dm, t1dm, cgm, continuous glucose monitor, continuous glucose monitoring, glucometer, a1c, hba1c, insulin, blood sugar, endocrinology, endocrine
poct, point of care test, point of care testing, rapid test => analyzer, analysers, results
medical device, devices, device integration, medical devices, iomt, instruments
stethoscope, auscultation => heart, lung
thermometer, temperature
oximeter, pulse ox, pulse oximeter, spo2 => oxygen, vital signs
wearable, wearables, apple watch, fitbit, smartwatch, activity tracker => steps, home
kidney, renal, nephrology, nephrologist, dialysis, hemodialysis, haemodialysis, esrd, ckd, egfr, chronic kidney disease, aki
eye, ophthalmology, optometry, ophthalmologist, eye care, optometrist, ophtho, vision, oct, retina, glaucoma, cataract, iop, intraocular pressure, visual acuity, retina specialist, eyeglasses, glasses prescription, spectacles
glasses => spectacle, eye
skin, dermatology, dermatologist, derm, mole, lesion, rash, dermatoscope, dermoscopy, teledermatology
wound, wound care, wounds, pressure ulcer
dental, odontology, dentist, dentistry, tooth, teeth, orthodontics, odontogram, perio, periodontist, periodontal, oral health, oral surgery, hygienist
pediatric, paediatric, pediatrics, paediatrics, pediatrician, paediatrician, peds, children, child, kids, well child, well child check, well child visit, wcc, neonatal, neonatology, premature, infant, newborn, baby, babies, toddler
growth chart, growth curve, growth curves, growth charts, percentile
milestones, developmental screening, asq => milestone
imms, immunization, immunisation, vaccination, vaccine, vaccines, shots, jab, jabs, immunizations
obgyn, ob gyn, obstetrics, gynecology, gynaecology, maternity, pregnancy, prenatal, antenatal, pregnant, midwife, women s health, womens health
implant, implants, udi, device identifier => implants, operative
surgery, surgical, surgeon, operative, perioperative, surgical operation, pre op, post op, preop, postop, operating room, theatre
anesthesia, anaesthesia, anesthesiology => operative, surgery
endoscopy, colonoscopy, gastroenterology, gi, gastro, endoscopist
endoscopy => procedure notes, operative
post op instructions, pre op instructions, preparation instructions, surgery preparation => journeys, guide patients, surgery
orthopedics, orthopaedics, orthopedic, orthopaedic, ortho, fracture, bone, musculoskeletal, msk, sports medicine
orthopedics => knee replacement, imaging, home exercise, surgery
physical therapy, physiotherapy, pt, physio, physical therapist, physiotherapist, rehab, rehabilitation, occupational therapy, ot, home exercise, exercise program, exercises, hep, home exercise program
stroke, neurology, neurologist, neuro, brain
mental health, behavioral health, behavioural health, bh, psychiatry, psychology, psychiatrist, psychologist, therapist, psychotherapy, telepsychiatry, counseling, counselling, counselor
phq, phq 9, phq9, mood scale => depression, mood
gad 7, gad7 => anxiety, mood
depression, anxiety => mood, behavioral health
mental health => safety plan
therapy => behavioral health, sleep therapy, home exercise
suicide, suicide risk, crisis => safety plan
substance abuse, addiction, substance use, sud => behavioral health
sleep, sleep apnea, sleep apnoea, cpap, osa, sleep therapy, sleep medicine, pap therapy, bipap, insomnia
oncology, cancer, oncologist, chemo, chemotherapy, tumor, tumour, tumor board
biologics => prior authorization
ent, ear nose throat, otolaryngology, audiology, hearing => ear
allergy clinic, immunology => allergy
geriatrics, elderly, older adults, seniors, geriatric
frailty, falls, fall risk => home, risk
palliative, hospice, end of life, advance care planning, acp, dnr => care plan, wishes
nutrition, dietitian, diet, weight loss, obesity
smoking, smoking cessation, tobacco
pain => exercise, therapy
primary care, family medicine, family practice, general practice, gp, internal medicine
urgent care, walk in => check in, waiting
home health, home care, home visit => home
fqhc, community health center, community clinic => community clinics
patient portal, portal, mychart
after visit summary, avs, visit summary, plain language, plain language summary, patient letter, patient letters, patient friendly summary
after visit summary, visit summary, health literacy => letter that patients understand, letter, plain language
patient education, education, leaflet, leaflets, handout, handouts, patient instructions, patient information, health literacy
patient engagement, engagement => messages, patients
patient journey, care journey, digital pathway => journeys
satisfaction, satisfaction survey, patient opinion, patient satisfaction, patient experience, patient survey, survey, surveys, feedback, nps, cahps, csat, patient feedback, friends and family test, fft
satisfaction, survey, feedback => questions after each visit
complaints, complaint => feedback, problems
reviews, online reviews, google reviews, reputation, reputation management => feedback
lep, translation, translate, interpreter, language interpretation, language, languages, bilingual, multilingual, interpreting, limited english
spanish, espanol, latino, hispanic
french, francais
proms, patient reported outcomes, patient reported outcome, outcomes
clinical trial, clinical trials, research, study recruitment
abdomen, abdominal, bowel => gastroenterology
afib, atrial fibrillation, arrhythmia, tachycardia, bradycardia => ecg
mi, heart attack, chest pain, cad, chf, heart failure => ecg, cardiovascular risk
hyperlipidemia, ldl => cardiovascular risk
bmi => weight, growth
epilepsy, seizure => neurology
adhd, autism => behavioral health, milestones
ptsd, bipolar, schizophrenia, eating disorder => behavioral health
moca, cognitive screening, dementia, alzheimer => screening, memory
contraception, pap smear, mammogram reminder => screening, care gaps
sti, hiv, hepatitis => screening, antibiotic
covid, covid 19, flu, influenza, flu shot => vaccine
travel medicine => vaccine
lot tracking, recall search => lot numbers
tb test => screening
mrsa => antibiotic
lims => lab
loinc => lab
snomed => coded, coding
rxnorm, ndc => drug
adr, adverse drug reaction => drug, allergy
crcl, creatinine => kidney
inr, warfarin, anticoagulation => blood thinners, dose
bmp, cmp, cbc => lab
icu, intensive care, critical care => early warning, ward
ed, emergency department, emergency room, er => early warning, urgent
snf, nursing home, skilled nursing, long term care, assisted living => discharge, ward
asc, ambulatory surgery center, day surgery => operative, surgery
wayfinding, directions => directions, map
queue management => waiting, check in
price list, fee schedule => price, cost estimate
hsa, fsa => payment
medicare, medicaid, cms => quality measures, claims
340b => formulary
workers comp, workers compensation => claims
coinsurance, deductible => copay
bad debt => statements
chargemaster => charges
ccm billing => monitoring minutes, care plans
consult letter, referral letter => referral, letter
econsult, e-consult => referral
fall prevention => falls
eob, explanation of benefits => remittances, statements
edi => claims
nppes => enrollment
ce => continuing education
soc 2, security => privacy
mfa => sign in
print => printer
copy => copies
dictaphone => dictation
paging, pager => on call
walkie talkie => messages
org chart, directory => list
todo, to do list, tasks, task management => tasks
rounds, rounding, ward round, rounding list
ward clerk => ward
nursing home rounds => rounds
chart audit => audit
click tracking, ehr usage, usage analytics, audit log, efficiency, time in ehr, provider efficiency => clicks, time in notes
command palette, launcher, quick launch => shortcuts
patient summary => brief, summary
generic substitution, therapeutic alternative, drug alternatives => cheaper, formulary, equivalent
medication prices, goodrx, cheaper drugs, generic drugs => formulary, cheaper
pharmacy benefits, pbm => formulary
blood draw, venipuncture => phlebotomy, lab
order tracking => orders
send out lab, reference lab => laboratories
bluetooth, usb stick => devices
exam room => measurements
trolley, cart => devices
tracing, tracings => ecg
mammography reading => imaging
orthotics, prosthetics => orthopedics
podiatry, foot => orthopedics
chiropractic, chiropractor => physical therapy
speech therapy, slp => therapy
acupuncture => therapy
tinnitus => hearing
lasik => eye
braces => dental
cita, citas, rendez vous => appointment, booking, visit
cita => schedule
receta, recetas, ordonnance => prescription, refill
vacuna, vacunas, vaccin, vaccins => vaccine
traduccion, traductor, interprete, traduction => translation, interpreter
fisioterapia, rehabilitacion, physiotherapie, kine => exercise, physical therapy
teleconsulta, telemedicina, videoconsulta => video visit
factura, facturas, facturacion, facturation => billing, claims, statements
formulario, formularios, formulaire => forms, intake
recordatorio, recordatorios, rappel, rappels => reminders
mensaje, mensajes => messages, messaging
consentimiento, consentement => consent
pediatria, pediatra, pediatrie => pediatric
cardiologia, corazon, cardiologie, coeur => heart, ecg
dentista, dentiste => dental
presion arterial, tension arterial, tension arterielle => blood pressure
laboratorio, laboratoire => lab
radiologia, radiologie, imagerie => imaging
salud mental, sante mentale => behavioral health
ehr, emr, electronic health record, electronic medical record
doctor, physician, clinician, provider, practitioner, doctors, physicians, clinicians, providers
nurse, nursing, rn, medical assistant
clinic, practice, office
sign, signing, signature
automatic, automatically, automated
organize, organise, sort
colour, color
centre, center
programme, program
behaviour, behavior
authorise, authorize
enrol, enroll, enrolment, enrollment
analyse, analyze
oesophagus, esophagus
haematology, hematology
diarrhoea, diarrhea
cheque, check
organisation, organization
recognise, recognize
specialty, speciality, specialities, specialties
$synonyms$, '\n') with ordinality as each (line, nth)
left join lateral regexp_split_to_table(btrim(substring(line from '^(.*)=>')), '\s*,\s*') as term on true
where line <> '';

select refresh_search_terms();
