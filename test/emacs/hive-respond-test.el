;;; hive-respond-test.el --- Answering from the minibuffer  -*- lexical-binding: t; -*-

;; Tags: one-winner as-displayed

;;; Code:

(require 'hive-test-help)

(require 'hive-compose)
(require 'hive-respond)

(defmacro hive-respond-test-answer (fields inputs)
  "Ask a question with FIELDS, answer it with INPUTS, return what was stored."
  `(hive-test-with-desk nil
     (hive-test-connect)
     (hive-test-call 'fake/ask ,fields)
     (hive-test-wait 5 (hive-prompts))
     (hive-test-with-inputs ,inputs (hive-respond))
     (hive-test-wait 5 (hive-test-answers))
     (car (hive-test-answers))))

(defconst hive-respond-test-options
  [(:label "Yes, please" :description "Do it now") (:label "No" :description nil) (:label "Later" :description nil)])

(ert-deftest hive-respond-free-text ()
  (let ((answer (hive-respond-test-answer '(:question "How?") (list "with care, ä 🐝"))))
    (should (equal "with care, ä 🐝" (plist-get answer :decision)))
    (should (equal "Ada" (plist-get answer :by)))
    (should (equal "store-1" (plist-get answer :store_id)))
    (should (string-match-p "\\`[0-9a-f]\\{8\\}\\(?:-[0-9a-f]\\{4\\}\\)\\{3\\}-[0-9a-f]\\{12\\}\\'"
                            (plist-get answer :response_id)))
    (should-not (plist-member answer :selected))
    (should-not (plist-member answer :comment))))

(ert-deftest hive-respond-one-option ()
  (let ((answer (hive-respond-test-answer (list :options hive-respond-test-options) (list "Yes, please"))))
    (should (equal "Yes, please" (plist-get answer :decision)))
    (should (equal ["Yes, please"] (plist-get answer :selected)))))

(ert-deftest hive-respond-an-option-in-another-case-is-that-option ()
  (let ((answer (hive-respond-test-answer (list :options hive-respond-test-options) (list " no"))))
    (should (equal ["No"] (plist-get answer :selected)))))

(ert-deftest hive-respond-free-text-instead-of-an-option ()
  (let ((answer (hive-respond-test-answer (list :options hive-respond-test-options) (list "Only on Friday"))))
    (should (equal "Only on Friday" (plist-get answer :decision)))
    (should-not (plist-member answer :selected))))

(ert-deftest hive-respond-options-only-where-free-text-is-off ()
  (let* ((strict nil)
         (prompt (hive-test-prompt :options hive-respond-test-options :allow_free_text :json-false)))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_prompt _table _pred require &rest _) (setq strict require) "No")))
      (should (equal (hive-read--option prompt) '(:decision "No" :selected ["No"]))))
    (should strict)))

(ert-deftest hive-respond-several-options-in-the-order-offered-with-commas ()
  (let ((answer (hive-respond-test-answer
                 (list :options hive-respond-test-options :multi_select t)
                 (list "No" "Yes, please" "Later" "Later" ""))))
    (should (equal ["No" "Yes, please"] (plist-get answer :selected)))))

(ert-deftest hive-respond-several-options-and-words-are-a-comment ()
  (let* ((asked nil)
         (answer (cl-letf (((symbol-function 'y-or-n-p) (lambda (question) (push question asked) t)))
                   (hive-respond-test-answer
                    (list :options hive-respond-test-options :multi_select t)
                    (list "Later" "after the release")))))
    (should (equal '("\"after the release\" is not an option.  Send it as a comment? ") asked))
    (should (equal ["Later"] (plist-get answer :selected)))
    (should (equal "after the release" (plist-get answer :comment)))))

(ert-deftest hive-respond-several-options-a-typo-stays-to-be-edited ()
  (let ((prompt (hive-test-prompt :multi_select t :options [(:label "lint") (:label "types") (:label "unit")]))
        (inputs (list "lint" "unti" "unit" "")) (initial nil) (lines nil))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (line _table _pred _strict typed &rest _)
                 (push typed initial) (push line lines) (pop inputs)))
              ((symbol-function 'y-or-n-p) #'ignore))
      (should (equal (hive-read--options prompt) '(:decision "" :selected ["lint" "unit"]))))
    (should (equal '(nil nil "unti" nil) (nreverse initial)))
    (should (string-match-p "(lint / types / unit / your own words; chosen: lint; empty RET sends)" (nth 2 lines)))))

(ert-deftest hive-respond-asks-what-half-an-option-means ()
  (let ((prompt (hive-test-prompt :options [(:label "Keep it a week") (:label "keep it") (:label "drop")]))
        (asked nil))
    (pcase-dolist (`(,key ,answer) '((?1 (:decision "Keep it a week" :selected ["Keep it a week"]))
                                     (?2 (:decision "keep it" :selected ["keep it"]))
                                     (?w (:decision "kee"))))
      (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) "kee"))
                ((symbol-function 'read-char-choice)
                 (lambda (question chars) (push (cons question chars) asked) key)))
        (should (equal answer (hive-read--option prompt)))))
    (should (equal '("Which did you mean by \"kee\"?  [1] Keep it a week  [2] keep it  [w] send it as typed  [e] edit it "
                     ?1 ?2 ?w ?e)
                   (car asked)))))

(ert-deftest hive-respond-half-an-option-can-be-edited ()
  (let ((prompt (hive-test-prompt :options [(:label "keep") (:label "drop")]))
        (inputs (list "dro" "drop")) (initial nil))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_line _table _pred _strict typed &rest _) (push typed initial) (pop inputs)))
              ((symbol-function 'read-char-choice) (lambda (&rest _) ?e)))
      (should (equal (hive-read--option prompt) '(:decision "drop" :selected ["drop"]))))
    (should (equal '("dro" nil) initial))))

(ert-deftest hive-respond-words-that-begin-no-option-are-not-questioned ()
  (should-not (hive-read--begun "keep it, but hide it" '("keep it" "drop")))
  (should-not (hive-read--begun "  " '("keep it" "drop")))
  (should (equal '("Drop") (hive-read--begun " dR" '("keep it" "Drop")))))

(ert-deftest hive-respond-a-permission-is-called-one ()
  (let ((line (hive-read-prompt-line (hive-test-prompt :kind "permission" :question "Run rm?") "Allow / Deny")))
    (should (equal "PERMISSION Claude-abc12 asks: Run rm? (Allow / Deny) " line))
    (should (eq 'hive-warning (get-text-property 0 'face line))))
  (should (equal "Claude-abc12 asks: Which? " (hive-read-prompt-line (hive-test-prompt)))))

(ert-deftest hive-respond-a-comment-on-request ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask (list :options hive-respond-test-options))
    (hive-test-wait 5 (hive-prompts))
    (hive-test-with-inputs (list "No" "because of reasons") (hive-respond t))
    (hive-test-wait 5 (hive-test-answers))
    (should (equal "because of reasons" (plist-get (car (hive-test-answers)) :comment)))))

(ert-deftest hive-respond-a-comment-on-request-begins-with-the-words-beside-the-options ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask (list :options hive-respond-test-options :multi_select t))
    (hive-test-wait 5 (hive-prompts))
    (cl-letf (((symbol-function 'y-or-n-p) #'always))
      (hive-test-with-inputs (list "Later" "after the release")
        (cl-letf (((symbol-function 'read-string)
                   (lambda (_prompt &optional initial &rest _) (concat initial ", please"))))
          (hive-respond t))))
    (hive-test-wait 5 (hive-test-answers))
    (should (equal "after the release, please" (plist-get (car (hive-test-answers)) :comment)))))

(defmacro hive-respond-test-typing (typed &rest body)
  "Run BODY while TYPED, an alist of prompts and texts, is typed in minibuffers.
A text is added to what is there, and RET ends the minibuffer; of a
text in a list, C-g.  A function types itself, and ends with C-g.
Return what was there, newest first."
  (declare (indent 1))
  `(let ((offered nil))
     (cl-letf* ((type (lambda (prompt initial)
                        (push initial offered)
                        (with-temp-buffer
                          (run-hooks 'minibuffer-setup-hook)
                          (insert (or initial ""))
                          (let ((text (alist-get prompt ,typed nil nil (lambda (key line) (string-search key line)))))
                            (cond ((functionp text) (funcall text))
                                  (t (insert (if (consp text) (car text) text))))
                            (run-hooks 'minibuffer-exit-hook)
                            (unless (stringp text) (signal 'quit nil))
                            (buffer-string)))))
                ((symbol-function 'read-string)
                 (lambda (prompt &optional initial &rest _) (funcall type prompt initial)))
                ((symbol-function 'read-from-minibuffer)
                 (lambda (prompt &optional initial &rest _) (funcall type prompt initial)))
                ((symbol-function 'completing-read)
                 (lambda (prompt _table _pred _strict initial &rest _) (funcall type prompt initial))))
       (condition-case nil (progn ,@body) (quit nil)))
     offered))

(ert-deftest hive-respond-what-is-left-half-typed-is-there-again ()
  (dolist (fields (list nil
                        (list :options hive-respond-test-options)
                        (list :options hive-respond-test-options :multi_select t)))
    (hive-test-with-desk nil
      (hive-test-connect)
      (hive-test-call 'fake/ask (append '(:question "How?") fields))
      (hive-test-wait 5 (hive-prompts))
      (let ((id (plist-get (car (hive-prompts)) :ask_id)))
        (cl-letf (((symbol-function 'y-or-n-p) #'always))
          (should (equal '(nil) (hive-respond-test-typing '(("How?" "with ")) (hive-respond))))
          (should (equal "with " (hive-compose-draft id)))
          ;; What could not be put into the outbox is not lost either.
          (cl-letf (((symbol-function 'hive-outbox-add) (lambda (&rest _) (error "No space left"))))
            (hive-respond-test-typing '(("How?" . "ca")) (should-error (hive-respond))))
          (should (equal "with ca" (hive-compose-draft id)))
          (should (equal '("with ca") (hive-respond-test-typing '(("How?" . "re")) (hive-respond))))
          (should-not (hive-compose-draft id)))
        (hive-test-wait 5 (hive-test-answers))
        (should (equal "with care" (plist-get (car (hive-test-answers)) :decision)))))))

(ert-deftest hive-respond-what-is-typed-is-saved-before-the-minibuffer-is-left ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask (list :question "When?" :options hive-respond-test-options))
    (hive-test-wait 5 (hive-prompts))
    (let ((id (plist-get (car (hive-prompts)) :ask_id)))
      (hive-respond-test-typing
          `(("When?" . ,(lambda ()
                          (insert "not")
                          ;; As after a pause: from then on, Emacs may crash.
                          (timer-event-handler hive-compose--timer)
                          (should (equal "not" (hive-compose-draft id)))
                          (insert " before")
                          (run-hooks 'kill-emacs-hook)
                          (should (equal "not before" (hive-compose-draft id))))))
        (hive-respond))
      (should (equal "not before" (hive-compose-draft id)))
      (hive-respond-test-typing
          `(("When?" . ,(lambda ()
                          (insert " May")
                          (run-hooks 'kill-emacs-hook)
                          ;; This chooses an option, and is no draft.
                          (delete-region (point-min) (point-max))
                          (insert "Later")
                          (run-hooks 'kill-emacs-hook)
                          (should (equal "not before" (hive-compose-draft id))))))
        (hive-respond))
      (should (equal "not before" (hive-compose-draft id)))
      (hive-respond-test-typing
          `(("When?" . ,(lambda ()
                          (insert " June")
                          (run-hooks 'kill-emacs-hook)
                          (delete-region (point-min) (point-max)))))
        (hive-respond))
      (should-not (hive-compose-draft id)))))

(ert-deftest hive-respond-a-half-typed-comment-is-there-again ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask (list :question "When?" :options hive-respond-test-options))
    (hive-test-wait 5 (hive-prompts))
    (hive-respond-test-typing '(("When?" . "Later") ("Comment" "not bef")) (hive-respond t))
    ;; Without its option it would be the answer.
    (should (equal '(nil) (hive-respond-test-typing '(("When?" "")) (hive-respond))))
    (hive-respond-test-typing '(("When?" . "Later") ("Comment" . "ore May")) (hive-respond t))
    (hive-test-wait 5 (hive-test-answers))
    (should (equal "Later" (plist-get (car (hive-test-answers)) :decision)))
    (should (equal "not before May" (plist-get (car (hive-test-answers)) :comment)))))

(ert-deftest hive-respond-a-comment-and-the-own-words-that-it-is-on-are-there-again ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask '(:question "How?"))
    (hive-test-wait 5 (hive-prompts))
    (should (equal '(nil nil) (hive-respond-test-typing '(("How?" . "with care") ("Comment" "it is")) (hive-respond t))))
    (should (equal '("it is" "with care")
                   (hive-respond-test-typing '(("How?" . "") ("Comment" . " old")) (hive-respond t))))
    (hive-test-wait 5 (hive-test-answers))
    (should (equal "with care" (plist-get (car (hive-test-answers)) :decision)))
    (should (equal "it is old" (plist-get (car (hive-test-answers)) :comment)))
    (should-not (directory-files hive-drafts-directory nil "txt\\'"))))

(ert-deftest hive-respond-a-half-typed-comment-on-a-correction-is-there-again ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask (list :question "When?" :options hive-respond-test-options
                                    :status "responded" :decision "Later" :by "Ada" :comment "in May"))
    (hive-test-wait 5 (hive-amend--known))
    (cl-flet ((amend (answer comment)
                (nreverse (hive-respond-test-typing `(("When?" . ,answer) ("Comment" . ,comment))
                            (hive-amend--correct (car (hive-amend--known)) nil)))))
      (should (equal '(nil "in May") (amend "No" '(" or June"))))
      ;; Without its option it would be the answer.
      (should (equal '(nil) (amend '("") "")))
      (should (equal '(nil "in May or June") (amend "No" ", or July"))))
    (hive-test-wait 5 (cl-some (lambda (record) (plist-get record :amendment)) (hive-test-state)))
    (let ((stored (cl-some (lambda (record) (plist-get record :amendment)) (hive-test-state))))
      (should (equal "No" (plist-get stored :decision)))
      (should (equal "in May or June, or July" (plist-get stored :comment))))
    (hive-test-wait 5 (null (directory-files hive-drafts-directory nil "txt\\'")))))

(ert-deftest hive-respond-what-may-permit-something-is-no-draft ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask '(:question "Run it?" :kind "permission" :dialog t :allow_free_text t
                                :options [(:label "Allow") (:label "Deny" :refuses t)]))
    (hive-test-wait 5 (hive-prompts))
    (let ((id (plist-get (car (hive-prompts)) :ask_id)))
      (dolist (typed '("Allow" "Allow, but only once"))
        (hive-respond-test-typing `(("Run it?" ,typed)) (hive-respond))
        (should-not (hive-compose-draft id)))
      (hive-respond-test-typing '(("Run it?" "not before May")) (hive-respond))
      (should (equal "not before May" (hive-compose-draft id)))
      ;; From an answer buffer.  It is not lost, and it is not in the minibuffer.
      (hive-compose-keep id "Allow")
      (should (equal '(nil) (hive-respond-test-typing '(("Run it?" "")) (hive-respond))))
      (should (equal "Allow" (hive-compose-draft id))))))

(ert-deftest hive-respond-words-beside-an-option-are-a-draft-with-that-option ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask (list :question "When?" :options hive-respond-test-options))
    (hive-test-wait 5 (hive-prompts))
    (let* ((batch (list (car (hive-prompts)))) (id (plist-get (car batch) :ask_id)))
      (hive-respond-test-typing '(("Later" "in")) (hive-next--comment batch '("Later")))
      ;; Elsewhere RET would send the words without their option, or with another one.
      (should (equal '(nil) (hive-respond-test-typing '(("When?" "")) (hive-respond))))
      (should (equal '(nil) (hive-respond-test-typing '(("No" "")) (hive-next--comment batch '("No")))))
      (should (equal "in" (hive-compose-draft (hive-draft-id id '("Later")))))
      (hive-compose (car batch))
      (should (equal '("in" "Later") (list (hive-compose-text) (car hive-compose--options))))
      (let ((kill-buffer-query-functions nil)) (kill-buffer))
      (should (equal '("in") (hive-respond-test-typing '(("Later" " May")) (hive-next--comment batch '("Later")))))
      (hive-respond-test-typing '(("Later" . ", or June")) (hive-next--comment batch '("Later")))
      (hive-test-wait 5 (hive-test-answers))
      (should (equal ["Later"] (plist-get (car (hive-test-answers)) :selected)))
      (should (equal "in May, or June" (plist-get (car (hive-test-answers)) :comment)))
      (hive-test-wait 5 (null (hive-outbox-entries 'pending)))
      (should-not (directory-files hive-drafts-directory nil "txt\\'")))))

(ert-deftest hive-respond-words-beside-two-options-are-two-drafts ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask (list :question "When?" :options hive-respond-test-options))
    (hive-test-wait 5 (hive-prompts))
    (let ((batch (list (car (hive-prompts)))))
      (cl-flet ((beside (label typed)
                  (hive-respond-test-typing `((,label ,typed)) (hive-next--comment batch (list label)))))
        ;; What was typed without an option becomes the draft of the first one.
        (hive-respond-test-typing '(("When?" "i")) (hive-respond))
        (should (equal '("i") (beside "Later" "n")))
        (should (equal '(nil) (hive-respond-test-typing '(("When?" "")) (hive-respond))))
        (beside "No" "never")
        (should (equal '("in") (beside "Later" " May")))
        (should (equal '("never") (beside "No" "")))
        (should (equal '("in May") (beside "Later" "")))
        ;; A buffer has the newest of them.
        (save-window-excursion
          (hive-compose (car batch))
          (should (equal '("in May" ("Later")) (list (hive-compose-text) hive-compose--options)))
          (hive-compose-send))
        (hive-test-wait 5 (hive-test-answers))
        (hive-test-wait 5 (null (hive-outbox-entries 'pending)))
        (should-not (directory-files hive-drafts-directory nil "txt\\'"))))))

(ert-deftest hive-respond-words-beside-several-options-are-a-draft-with-all-of-them ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask (list :question "When?" :multi_select t :options hive-respond-test-options))
    (hive-test-wait 5 (hive-prompts))
    (let ((batch (list (car (hive-prompts)))))
      (hive-respond-test-typing '(("Later, No" "in")) (hive-next--comment batch '("Later" "No")))
      (save-window-excursion
        (hive-compose (car batch))
        (should (string-match-p (regexp-quote "+ Later, No") (hive-compose--header)))
        (hive-compose-send))
      (hive-test-wait 5 (hive-test-answers))
      (should (equal ["Later" "No"] (plist-get (car (hive-test-answers)) :selected)))
      (should (equal "in" (plist-get (car (hive-test-answers)) :comment))))))

(ert-deftest hive-respond-an-answer-that-is-stored-leaves-no-draft ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask (list :question "When?" :options hive-respond-test-options))
    (hive-test-wait 5 (hive-prompts))
    (let* ((prompt (car (hive-prompts))) (id (plist-get prompt :ask_id)))
      (hive-compose-keep id "in May")
      (hive-compose-keep (hive-compose-correction-id id) "in June")
      (hive-respond-send prompt '(:decision "Later" :selected ["Later"]))
      (hive-test-wait 5 (not (hive-compose-draft id)))
      (should-not (hive-compose-draft (hive-compose-correction-id id))))))

(ert-deftest hive-respond-an-answer-in-hive-next-that-is-refused-stays-as-a-draft ()
  (hive-test-with-desk nil
    (let ((batch (list (hive-test-prompt :ask_id "ask-1" :question "How?"))))
      (cl-letf (((symbol-function 'hive-next--give) (lambda (&rest _) (user-error "Not sent"))))
        (hive-respond-test-typing '(("How?" . "at length"))
          (should-error (hive-next--own-words batch) :type 'user-error)))
      (should (equal "at length" (hive-compose-draft "ask-1")))
      (cl-letf (((symbol-function 'hive-next--give) #'ignore))
        (should (equal '("at length")
                       (hive-respond-test-typing '(("How?" . ""))
                         (should (eq 'answered (hive-next--own-words batch)))))))
      (should-not (hive-compose-draft "ask-1"))
      (hive-respond-test-typing '(("How?" . "")) (should (eq 'skip (hive-next--own-words batch)))))))

(ert-deftest hive-respond-where-only-options-are-accepted-there-is-no-draft ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask (list :question "When?" :options hive-respond-test-options :allow_free_text :json-false))
    (hive-test-wait 5 (hive-prompts))
    (let ((id (plist-get (car (hive-prompts)) :ask_id)))
      (hive-respond-test-typing '(("When?" "La")) (hive-respond))
      (should-not (hive-compose-draft id))
      (hive-compose-keep id "words beside an option")
      (should (equal '(nil) (hive-respond-test-typing '(("When?" . "Later")) (hive-respond)))))))

(ert-deftest hive-respond-empty-input-answers-nothing ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask (list :options hive-respond-test-options :multi_select t))
    (hive-test-wait 5 (hive-prompts))
    (dolist (inputs '(("") (" \t")))
      (should-error (hive-test-with-inputs inputs (hive-respond)) :type 'user-error))
    (should (hive-prompts))
    (should-not (hive-test-answers))
    (should-not (hive-outbox-entries 'pending))))

(ert-deftest hive-respond-the-most-urgent-is-the-default-of-many ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask '(:question "First?" :created_at "2026-01-01T00:00:00.000Z"))
    (hive-test-call 'fake/ask '(:question "Urgent?" :urgency "critical"))
    (hive-test-call 'fake/ask '(:question "First?" :created_at "2026-01-02T00:00:00.000Z"))
    (hive-test-wait 5 (= 3 (length (hive-prompts))))
    (let ((asked (hive-test-with-inputs (list "" "at once") (hive-respond))))
      (should (equal (cdr (cadr asked))
                     '("Claude-abc12: Urgent?" "Claude-abc12: First?" "Claude-abc12: First? <2>")))
      ;; The prompt says what an empty answer means.
      (should (equal (car (cadr asked)) "Answer (3 pending, default Claude-abc12: Urgent?): ")))
    (hive-test-wait 5 (hive-test-answers))
    (should (string-suffix-p "-2" (plist-get (car (hive-test-answers)) :ask_id)))))

(ert-deftest hive-respond-candidates-show-agent-project-age-and-urgency ()
  (let* ((prompt (hive-test-prompt :urgency "critical" :project "rocket" :kind "permission"
                                   :created_at (format-time-string "%FT%T.000Z" (- (hive-now) 300) t)))
         (rows nil))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_prompt table &rest _)
                 (let ((lines (all-completions "" table)))
                   (setq rows (funcall (alist-get 'affixation-function
                                                  (cdr (funcall table "" nil 'metadata)))
                                       lines))
                   (car lines)))))
      (should (eq prompt (hive-read-prompt (list prompt (hive-test-prompt))))))
    (pcase-let ((`(,line ,prefix ,suffix) (car rows)))
      (should (equal line "Claude-abc12: Which?"))
      (should (equal prefix "! "))
      (should (string-match-p "rocket +5m +permission" suffix)))))

(ert-deftest hive-respond-options-show-their-descriptions ()
  (let* ((alist (hive-read--labels hive-respond-test-options))
         (metadata (completion-metadata "" (hive-read--table alist hive-respond-test-options) nil))
         (rows (funcall (completion-metadata-get metadata 'affixation-function) (mapcar #'car alist))))
    (should (equal (nth 2 (car rows)) "  Do it now"))
    (should (equal (nth 2 (cadr rows)) ""))))

(ert-deftest hive-respond-labels-that-look-alike-stay-apart ()
  (let ((alist (hive-read--labels [(:label "a\nb") (:label "a b") (:label "x\u200B")])))
    (should (= 3 (length (delete-dups (mapcar #'car alist)))))
    (should (equal '("a\nb" "a b" "x\u200B") (mapcar (lambda (cell) (hive-read--meant (car cell) alist)) alist)))))

(ert-deftest hive-respond-settled-while-typing-is-reported-kept-and-sent ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (let* ((kill-ring nil) (said nil)
           (id (plist-get (hive-test-call 'fake/ask nil) :ask_id)))
      (hive-test-wait 5 (hive-prompts))
      (cl-letf (((symbol-function 'message) (lambda (&rest args) (push (apply #'format-message args) said))))
        (hive-test-with-inputs
            (list (lambda ()
                    (hive-test-call 'fake/change (list :ask_id id :status "responded" :by "Bob" :decision "no"))
                    (hive-test-wait 5 (null (hive-prompts)))
                    "my careful answer"))
          (hive-respond))
        (hive-test-wait 5 (cl-some (lambda (line) (string-match-p "was not accepted; Bob answered first: no" line)) said)))
      (should (member "This question is already answered by Bob, so your answer will not count; it is still sent, and its text is in the kill ring"
                      said))
      (should (equal (car kill-ring) "my careful answer"))
      (should (equal (plist-get (car (hive-test-answers)) :decision) "my careful answer")))))

;;;; What is settled

(defun hive-respond-test-settled (&rest fields)
  "Return a prompt that was settled with FIELDS."
  (apply #'hive-test-prompt :ask_id "settled" fields))

(ert-deftest hive-respond-refuses-an-answered-question-and-names-hive-amend ()
  (let ((hive-user-name "Ada"))
    (pcase-dolist
        (`(,fields ,says)
         '(((:status "responded" :by "Ada" :decision "no") "You already answered \"Which\\?\": no; M-x hive-amend")
           ((:status "responded" :by "Ada" :decision "no" :handed_at "2026-01-01") "already delivered to Claude-abc12")
           ((:status "responded" :by "Bob" :decision "no") "Bob already answered \"Which\\?\": no\\'")
           ((:status "expired" :late_response (:by "Ada" :decision "no")) "hive-amend corrects it")))
      (let ((prompt (apply #'hive-respond-test-settled fields)))
        (dolist (command (list #'hive-answer-prompt #'hive-compose))
          (let ((hive-drafts-directory "/no/such/"))
            (should (string-match-p says (cadr (should-error (funcall command prompt) :type 'user-error)))))
          (should-not (get-buffer "*hive answer: settled*")))))))

(ert-deftest hive-respond-refuses-an-answered-question-even-if-the-list-is-older ()
  (let ((hive-model--prompts (make-hash-table :test #'equal)))
    (puthash "settled" (hive-respond-test-settled :status "responded" :by "Bob" :decision "no") hive-model--prompts)
    (should-error (hive-answer-prompt (hive-respond-test-settled)) :type 'user-error)))

(ert-deftest hive-respond-an-answer-that-is-being-sent-is-not-given-twice ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask '(:question "Go?"))
    (hive-test-wait 5 (hive-prompts))
    (let ((prompt (car (hive-prompts))))
      (hive-model-set-answered (plist-get prompt :ask_id) t)
      (should (string-match-p "not stored yet; once it is, M-x hive-amend"
                              (cadr (should-error (hive-answer-prompt prompt) :type 'user-error)))))))

(ert-deftest hive-respond-closed-while-typing-says-whether-the-answer-is-kept ()
  (dolist (case '(("responded" "is already answered by Bob.  Your answer would not be accepted;" nil)
                  ("expired" "is already expired.  If you send your answer, it is stored as late;"
                   "This question is already expired; your answer will be stored as late.  Its text is in the kill ring")))
    (pcase-let ((`(,status ,header ,queued) case))
      (hive-test-with-desk nil
        (hive-test-connect)
        (let* ((kill-ring nil) (said nil) (id (plist-get (hive-test-call 'fake/ask nil) :ask_id)))
          (hive-test-wait 5 (hive-prompts))
          (hive-compose (hive-model-prompt id))
          (insert "go")
          (hive-test-call 'fake/change (list :ask_id id :status status :by "Bob" :decision "no"))
          (hive-test-wait 5 (null (hive-prompts)))
          (should (equal (format " This question %s your text stays here." header)
                         (substring-no-properties (hive-compose--header))))
          (when queued
            (cl-letf (((symbol-function 'message) (lambda (&rest args) (push (apply #'format-message args) said))))
              (hive-compose-send))
            (should (member queued said))
            (should (equal "go" (car kill-ring)))
            (hive-test-wait 5 (hive-test-answers)))
          (unless queued (hive-compose-put-aside)))))))

(ert-deftest hive-respond-says-late-if-it-was-late-when-opened ()
  (dolist (status '("expired" "cancelled"))
    (hive-test-with-desk nil
      (hive-test-connect)
      (let ((prompt (hive-test-call 'fake/ask (list :question "Go?" :status status))) (said nil) (kill-ring nil))
        (cl-letf (((symbol-function 'message) (lambda (&rest args) (push (apply #'format-message args) said))))
          (let ((asked (hive-test-with-inputs (list "go") (hive-answer-prompt prompt))))
            (should (equal '("Late answer to Claude-abc12: Go? ") asked))))
        (should (member "Late answer queued" said))
        (should-not (cl-some (lambda (line) (string-match-p "already" line)) said))
        (should-not kill-ring)
        (hive-test-wait 5 (hive-test-answers))))))

(ert-deftest hive-respond-an-empty-answer-to-a-settled-question-does-not-say-pending ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (let ((prompt (hive-test-call 'fake/ask '(:status "cancelled"))))
      (should (equal "No answer given; the question stays cancelled"
                     (cadr (should-error (hive-test-with-inputs (list "") (hive-answer-prompt prompt))
                                         :type 'user-error)))))
    (let ((id (plist-get (hive-test-call 'fake/ask nil) :ask_id)))
      (hive-test-wait 5 (hive-prompts))
      (should (equal "No answer given; the question is already cancelled"
                     (cadr (should-error
                            (hive-test-with-inputs
                                (list (lambda ()
                                        (hive-test-call 'fake/change (list :ask_id id :status "cancelled"))
                                        (hive-test-wait 5 (null (hive-prompts)))
                                        ""))
                              (hive-respond))
                            :type 'user-error)))))))

(ert-deftest hive-compose-shows-the-status-of-the-question ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (let ((prompt (hive-test-call 'fake/ask '(:question "Go?" :status "expired" :kind "permission"))))
      (hive-compose prompt)
      (should (string-prefix-p " PERMISSION Late answer to Claude-abc12  C-c C-c sends"
                               (substring-no-properties (hive-compose--header))))
      (should (equal "No answer given; the question stays expired"
                     (cadr (should-error (hive-compose-send) :type 'user-error))))
      (insert "go")
      (cl-letf (((symbol-function 'message) (lambda (&rest args) (should (equal "Draft saved; the question stays expired"
                                                                                 (apply #'format args))))))
        (hive-compose-put-aside)))))

;;;; Words beside an option

(ert-deftest hive-read-an-option-and-words-are-understood-in-one-step ()
  (let ((prompt (hive-test-prompt :options [(:label "Yes") (:label "No, keep it") (:label "later")])))
    (pcase-dolist (`(,text ,label ,words)
                   '(("Yes" "Yes" nil) (" yes " "Yes" nil)
                     ("yes, but only on Friday" "Yes" "but only on Friday")
                     ("Yes: on Friday; not before" "Yes" "on Friday; not before")
                     ("LATER – after lunch" "later" "after lunch")
                     ("No, keep it, and hide it" "No, keep it" "and hide it")))
      (should (equal (append (list :decision label :selected (vector label))
                             (and words (list :comment words)))
                     (hive-read-understood prompt text))))
    (dolist (text '("Yes but" "Yesterday, perhaps" "Yes," "No, keep" "later-on" "Why, yes?"))
      (should (equal (list :decision text) (hive-read-understood prompt text))))))

(ert-deftest hive-respond-words-after-an-option-are-its-comment ()
  (let ((answer (hive-respond-test-answer (list :options hive-respond-test-options)
                                          (list "no, not before the release"))))
    (should (equal ["No"] (plist-get answer :selected)))
    (should (equal "not before the release" (plist-get answer :comment)))))

(ert-deftest hive-respond-words-after-an-option-that-allows-are-confirmed ()
  (let ((prompt (hive-test-prompt :kind "permission" :dialog t
                                  :options [(:label "Allow") (:label "Deny" :refuses t)]))
        (inputs (list "Allow, but carefully" "Deny, use make")) (asked nil) (hive-undo-seconds 0))
    (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) (pop inputs)))
              ((symbol-function 'y-or-n-p) (lambda (question) (push question asked) nil)))
      (should (equal '(:decision "Deny" :selected ["Deny"] :comment "use make") (hive-read--option prompt))))
    (should (equal '("Answer \"Allow\" with the comment \"but carefully\"? ") asked))
    ;; Not if it can be taken back.
    (setq inputs (list "Allow, but carefully") hive-undo-seconds 3)
    (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) (pop inputs)))
              ((symbol-function 'y-or-n-p) (lambda (_) (ert-fail "asked"))))
      (should (equal "but carefully" (plist-get (hive-read--option prompt) :comment))))))

(ert-deftest hive-template-with-an-option-is-offered-where-the-question-has-it ()
  (let ((hive-reply-templates '(("question" nil "Look at the tests." ("yes" "but keep it small.") ("Never" "ever.")))))
    (should (equal '("Look at the tests." "Yes, but keep it small.")
                   (hive-template-texts (hive-test-prompt :options [(:label "Yes")]))))
    (should (equal '("Yes, but keep it small.")
                   (hive-template-texts (hive-test-prompt :options [(:label "Yes")] :allow_free_text :json-false))))
    (should-not (hive-template-messages nil))))

;;;; Writing in a buffer

(defmacro hive-respond-test-composing (fields &rest body)
  "Ask a question with FIELDS, compose an answer to it, and run BODY there."
  (declare (indent 1) (debug t))
  `(hive-test-with-desk nil
     (hive-test-connect)
     (hive-test-call 'fake/ask ,fields)
     (hive-test-wait 5 (hive-prompts))
     (save-window-excursion
       (hive-compose (car (hive-prompts)))
       (unwind-protect (progn ,@body)
         (let ((inhibit-read-only t) (kill-buffer-query-functions nil)) (kill-buffer))))))

(ert-deftest hive-compose-shows-the-question-above-which-cannot-be-changed ()
  (hive-respond-test-composing '(:question "Why?" :context "Because %s\n\nsecond\nparagraph")
    (should (string-match-p "\\`Why\\?\n\nBecause %s\n\nsecond\nparagraph\n" (buffer-string)))
    (should (equal "" (hive-compose-text)))
    (insert "Mine")
    (should (equal "Mine" (hive-compose-text)))
    (goto-char (point-min))
    (should-error (insert "x") :type 'text-read-only)
    (goto-char hive-compose--begin)
    (should-error (delete-char -1) :type 'text-read-only)
    (insert "Not ")
    (should (equal "Not Mine" (hive-compose-text)))))

(ert-deftest hive-compose-quotes-the-paragraph-at-point-or-the-region ()
  (hive-respond-test-composing '(:question "Why?" :context "First line\n\nsecond\nparagraph")
    (insert "Well:")
    (goto-char (point-min))
    (search-forward "second")
    (hive-compose-quote)
    (should (equal "Well:\n> second\n> paragraph\n" (hive-compose-text)))
    (goto-char (point-min))
    (search-forward "line")
    (let ((transient-mark-mode t))
      (push-mark (match-beginning 0) t t)
      (hive-compose-quote))
    (should (equal "Well:\n> second\n> paragraph\n> line\n" (hive-compose-text)))
    (should-error (hive-compose-quote) :type 'user-error)))

(ert-deftest hive-compose-what-is-added-appears-above-and-undo-still-works ()
  (hive-respond-test-composing '(:question "Why?")
    (buffer-enable-undo)
    (insert "Mine")
    (undo-boundary)
    (hive-test-call 'fake/change (list :ask_id (plist-get hive-compose--prompt :ask_id)
                                       :notes [(:text "It got worse." :at "2026-01-01T00:00:00.000Z")]))
    (hive-test-wait 5 (string-match-p "It got worse" (buffer-string)))
    (should (equal "Mine" (hive-compose-text)))
    (should (= (point) (point-max)))
    ;; The first of the two is the boundary.
    (primitive-undo 2 buffer-undo-list)
    (should (equal "" (hive-compose-text)))))

(ert-deftest hive-compose-what-is-added-leaves-point-mark-and-windows-at-their-text ()
  (hive-respond-test-composing '(:question "Why?" :context "Because\nof this" :options [(:label "a")])
    (insert "Mine")
    (let ((window (split-window)))
      (cl-labels ((at (text) (goto-char (point-min)) (search-forward text))
                  (arrive (&rest notes)
                    (hive-compose--print
                     (append (list :notes (vconcat (mapcar (lambda (note) (list :text note :at (hive-text-now))) notes)))
                             hive-compose--prompt))))
        (set-window-point window (at "of th"))
        (push-mark (at "Mi") t t)
        (at "Becau")
        (arrive "One\nnote.")
        (should (looking-at-p "se\n"))
        (should (equal "is\n" (buffer-substring-no-properties (window-point window) (+ 3 (window-point window)))))
        (should (equal "ne" (buffer-substring-no-properties (mark) (point-max))))
        ;; Where the answer begins is in the answer.
        (goto-char hive-compose--begin)
        (arrive "One\nnote." "Two")
        (should (looking-at-p "Mine\\'"))
        (insert "All ")
        (should-not (get-text-property (1- (point)) 'hive-part))
        (should (equal "All Mine" (hive-compose-text)))))))

(ert-deftest hive-compose-a-narrowed-buffer-has-the-whole-answer ()
  (hive-respond-test-composing '(:question "Why?")
    (insert "First.\nSecond.")
    (let ((id (plist-get hive-compose--prompt :ask_id)))
      (dolist (visible (list (lambda () (narrow-to-region (line-beginning-position) (point-max)))
                             (lambda () (narrow-to-region (point-min) (+ (point-min) 2)))))
        (widen)
        (goto-char (point-max))
        (funcall visible)
        (should (equal "First.\nSecond." (hive-compose-text)))
        (should (hive-draft-save))
        (should (equal "First.\nSecond." (hive-compose-draft id)))))))

(ert-deftest hive-compose-what-is-added-to-a-narrowed-buffer-is-above-the-whole-answer ()
  (hive-respond-test-composing '(:question "Why?")
    (insert "First.\nSecond.")
    (narrow-to-region (line-beginning-position) (point-max))
    (hive-compose--print (append (list :notes (vector (list :text "It got worse." :at (hive-text-now))))
                                 hive-compose--prompt))
    (should (equal "Second." (buffer-string)))
    (should (eobp))
    (widen)
    (narrow-to-region hive-compose--begin (point-max))
    (hive-compose--print (plist-put (copy-sequence hive-compose--prompt) :notes nil))
    (should (equal "First.\nSecond." (buffer-string)))
    (widen)
    (should (string-match-p "\\`Why\\?\n\nYour answer, below this line:\nFirst\\.\nSecond\\.\\'" (buffer-string)))
    (should (equal "First.\nSecond." (hive-compose-text)))))

(ert-deftest hive-compose-in-a-buffer-narrowed-to-the-question-what-is-added-goes-to-the-answer ()
  (let ((hive-reply-templates '(("question" nil "Look."))))
    (dolist (add (list #'hive-compose-quote (lambda () (hive-compose-insert-template "Look."))
                       (lambda ()
                         (hive-compose--print hive-compose--prompt)
                         (should (string-prefix-p "Why?" (buffer-string)))
                         (goto-char (point-max))
                         (insert "Look."))))
      (hive-respond-test-composing '(:question "Why?")
        (insert "Mine\n")
        (narrow-to-region (point-min) (+ (point-min) 4))
        (goto-char (point-min))
        (funcall add)
        (should (member (hive-compose-text) '("Mine\n> Why?\n" "Mine\nLook.")))))))

(ert-deftest hive-compose-an-option-goes-with-the-words ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask (list :question "Deploy?" :options hive-respond-test-options))
    (hive-test-wait 5 (hive-prompts))
    (save-window-excursion
      (hive-compose (car (hive-prompts)))
      (insert "After the\nrelease.")
      (hive-compose-choose "Later")
      (should (string-match-p "To Claude-abc12 \\+ Later" (hive-compose--header)))
      (hive-compose-send))
    (hive-test-wait 5 (hive-test-answers))
    (should (equal ["Later"] (plist-get (car (hive-test-answers)) :selected)))
    (should (equal "After the\nrelease." (plist-get (car (hive-test-answers)) :comment)))))

(ert-deftest hive-compose-a-draft-has-its-option ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask (list :question "Deploy?" :options hive-respond-test-options))
    (hive-test-wait 5 (hive-prompts))
    (save-window-excursion
      (hive-compose (car (hive-prompts)))
      (hive-compose-choose "Later")
      (insert "After the release.")
      (hive-compose-put-aside)
      ;; In the minibuffer the words would be sent alone.
      (should (equal '(nil) (hive-respond-test-typing '(("Deploy?" "")) (hive-respond))))
      (hive-compose (car (hive-prompts)))
      (should (string-match-p "To Claude-abc12 \\+ Later" (hive-compose--header)))
      (hive-compose-send))
    (hive-test-wait 5 (hive-test-answers))
    (should (equal ["Later"] (plist-get (car (hive-test-answers)) :selected)))
    (should (equal "After the release." (plist-get (car (hive-test-answers)) :comment)))
    (hive-test-wait 5 (null (hive-outbox-entries 'pending)))
    (should-not (directory-files hive-drafts-directory nil "txt\\'"))))

(ert-deftest hive-compose-a-draft-beside-an-option-is-one-in-any-emacs ()
  (hive-test-with-desk nil
    (let ((serialize (symbol-function 'json-serialize)))
      ;; Emacs 30 makes bytes; others may have neither of these.
      (dolist (functions (list (cons (lambda (&rest args) (encode-coding-string (apply serialize args) 'utf-8))
                                     (symbol-function 'json-parse-string))
                               '(nil . nil)))
        (cl-letf (((symbol-function 'json-serialize) (car functions))
                  ((symbol-function 'json-parse-string) (cdr functions)))
          (with-temp-buffer
            (dolist (text '("in" "in May"))
              (hive-draft-keep "ask-1" text (hive-draft-with-options '("Später")))
              (should (equal '(:options ["Später"]) (hive-draft-with "ask-1"))))
            (hive-draft-keep "ask-1" "")
            (should-not (directory-files hive-drafts-directory nil "txt\\'"))))))))

(ert-deftest hive-compose-a-draft-of-another-emacs-stays ()
  (hive-respond-test-composing '(:question "Why?")
    (let ((id (plist-get hive-compose--prompt :ask_id)) (prompt hive-compose--prompt))
      ;; The other one saves its draft while this buffer is open.
      (hive-compose-keep id "Theirs")
      (cl-letf (((symbol-function 'message)
                 (lambda (&rest args)
                   (should (equal "No answer given; still pending" (apply #'format args))))))
        (hive-compose-put-aside))
      (should (equal "Theirs" (hive-compose-draft id)))
      ;; It goes on after this buffer has read the draft.
      (hive-compose prompt)
      (should (equal "Theirs" (hive-compose-text)))
      (hive-compose-keep id "Theirs, continued")
      (let ((kill-buffer-query-functions nil)) (kill-buffer))
      (should (equal "Theirs, continued" (hive-compose-draft id)))
      ;; Both write.
      (hive-compose prompt)
      (hive-compose-keep id "Theirs, once more")
      (goto-char (point-max))
      (insert ", and mine")
      (hive-draft-save)
      (should (equal "Theirs, once more\n\f\nTheirs, continued, and mine" (hive-compose-draft id)))
      (insert "!")
      (hive-draft-save)
      (should (equal "Theirs, once more\n\f\nTheirs, continued, and mine!" (hive-compose-draft id)))
      (delete-region hive-compose--begin (point-max))
      (hive-draft-save)
      (should (equal "Theirs, once more" (hive-compose-draft id)))
      ;; What was written here, and deleted by another one, is saved again as long as it is here.
      (insert "Mine")
      (hive-draft-save)
      (hive-compose-keep id "")
      (run-hooks 'kill-emacs-hook)
      (should (equal "Mine" (hive-compose-draft id))))))

(ert-deftest hive-compose-a-draft-that-cannot-be-saved-is-not-put-aside ()
  (hive-respond-test-composing '(:question "Why?")
    (let ((kill-ring nil) (buffer (current-buffer)))
      (insert "precious")
      (let ((hive-drafts-directory "/proc/no such directory/"))
        (hive-compose-put-aside)
        (should (buffer-live-p buffer))
        (should (equal "precious" (hive-compose-text)))
        (with-temp-buffer (kill-buffer buffer)))
      (should (equal "precious" (car kill-ring)))
      (hive-compose (car (hive-prompts))))))

(ert-deftest hive-compose-inserts-a-template-into-the-answer ()
  (let ((hive-reply-templates '(("question" nil "Look at the tests."))))
    (hive-respond-test-composing '(:question "Why?")
      (goto-char (point-min))
      (hive-compose-insert-template "Look at the tests.")
      (should (equal "Look at the tests." (hive-compose-text))))))

(ert-deftest hive-respond-says-stored-only-when-it-is ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/plan '(:method "hivemind-response" :outcomes [(:code -32001 :message "store_busy: Busy.")]))
    (hive-test-call 'fake/ask nil)
    (hive-test-wait 5 (hive-prompts))
    (setq hive-outbox--delay 0.3)
    (let ((said nil))
      (cl-letf (((symbol-function 'message)
                 (lambda (&rest args) (push (cons (apply #'format-message args) (length (hive-test-answers))) said))))
        (hive-test-with-inputs (list "yes") (hive-respond))
        (hive-test-wait 5 (cl-some (lambda (line) (string-match-p "(stored)" (car line))) said)))
      (setq said (nreverse said))
      (should (member '("Answer queued" . 0) said))
      (should (= 1 (cdr (cl-find-if (lambda (line) (string-match-p "(stored)" (car line))) said)))))))

(ert-deftest hive-respond-opening-marks-a-question-as-seen-once ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask nil)
    (hive-test-wait 5 (hive-prompts))
    (hive-test-with-inputs (list "yes") (hive-respond))
    (hive-test-wait 5 (cl-find-if (lambda (record) (plist-get record :seen)) (hive-test-state)))))

(ert-deftest hive-respond-a-long-question-is-shown-and-put-away ()
  (let* ((question (concat "First line\n" (make-string 8000 ?x) "\ec\u202E"))
         (prompt (hive-test-prompt :question question :context "# Title\n%s %d"))
         (windows (window-list)) (height (window-height)) (shown nil))
    (hive-read-with-details prompt
      (lambda ()
        (with-current-buffer "*hive question*"
          (setq shown (buffer-string)))))
    (should (string-match-p "\\^\\[c<U\\+202E>" shown))
    (should (string-match-p "# Title\n%s %d" shown))
    (should-not (get-buffer "*hive question*"))
    (should (equal windows (window-list)))
    (should (= height (window-height)))))

(ert-deftest hive-respond-a-context-that-was-cut-is-fetched ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (let* ((whole (concat (make-string 3000 ?c) " THE END"))
           (prompt (hive-test-call 'fake/ask (list :context whole)))
           (listed (append (list :context (substring whole 0 2000) :context_truncated t) prompt)))
      (hive-read-with-details listed
        (lambda ()
          (with-current-buffer "*hive question*"
            (should (string-match-p "loading the rest" (buffer-string)))
            (hive-test-wait 5 (string-match-p "THE END\n\\'" (buffer-string)))))))))

(ert-deftest hive-respond-does-not-offer-an-answered-question-again ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask nil)
    (hive-test-wait 5 (hive-prompts))
    (hive-sidecar-stop)
    (hive-test-with-inputs (list "yes") (hive-respond))
    (should-not (hive-prompts))
    (hive-sidecar-start)
    (hive-test-wait 10 (hive-test-answers))
    (hive-test-wait 5 (hive-model-complete-p))
    (hive-test-wait 5 (null (hive-outbox-entries 'pending)))
    (should-not (hive-prompts))))

(ert-deftest hive-respond-text-of-agents-is-never-a-format ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask '(:agent "%s%d" :question "100%s \\[undo] `x' %n?"))
    (hive-test-wait 5 (hive-prompts))
    (let ((asked (hive-test-with-inputs (list "%s") (hive-respond))))
      (should (equal (car asked) "%s%d asks: 100%s \\[undo] `x' %n? ")))
    (hive-test-wait 5 (hive-test-answers))
    (hive-test-wait 5 (null (hive-outbox-entries 'pending)))))

(ert-deftest hive-respond-says-why-there-is-nothing-to-answer ()
  (hive-test-with-desk nil
    (should (string-match-p "M-x hive-mode" (cadr (should-error (hive-respond) :type 'user-error))))
    (let ((hive-sidecar-command '("/no/such")))
      (hive-mode 1)
      (should (string-match-p "not found" (cadr (should-error (hive-respond) :type 'user-error)))))
    (hive-restart)
    (hive-test-wait 5 (and (hive-sidecar-connected-p) (hive-model-complete-p)))
    (should (equal "No questions are pending" (hive-respond)))))

(ert-deftest hive-respond-cancel ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask nil)
    (hive-test-wait 5 (hive-prompts))
    (hive-cancel-prompt (car (hive-prompts)))
    (hive-test-wait 5 (null (hive-prompts)))))

(ert-deftest hive-respond-a-question-in-its-terminal-is-shown-and-not-answered-here ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-test-call 'fake/ask (list :ask_id "p1" :question "May I?" :kind "permission"
                                    :blocked_since (hive-test-time -6630)
                                    :terminal_since (hive-test-time -60)))
    (hive-test-wait 5 (hive-prompts))
    (let ((prompt (hive-model-prompt "p1")))
      (should (equal "waiting in its terminal for 1h 50m" (hive-prompt-waits prompt)))
      (should (string-match-p "waits in the terminal of Claude-abc12"
                              (cadr (should-error (hive-answer-prompt prompt) :type 'user-error))))
      (should-not (hive-next--following nil))
      (should (string-match-p "1 in the terminals of their agents" (hive-respond-others))))))

(ert-deftest hive-respond-beside-the-minibuffer-only-a-new-note-goes-to-the-top ()
  (save-window-excursion
    (let* ((context (mapconcat #'number-to-string (number-sequence 1 200) "\n"))
           (prompt (hive-test-prompt :context context))
           (buffer (get-buffer-create hive-read--buffer)))
      (unwind-protect
          (progn
            (hive-read--show prompt buffer)
            (let ((window (display-buffer buffer '(display-buffer-pop-up-window))))
              (set-window-point window (with-current-buffer buffer
                                         (goto-char (point-min))
                                         (forward-line 100)
                                         (point)))
              (hive-read--show prompt buffer)
              (with-current-buffer buffer
                (should (= 101 (line-number-at-pos (window-point window)))))
              (hive-read--show (append (list :notes [(:text "It got worse." :at "2026-01-01T00:00:00.000Z")])
                                       prompt)
                               buffer)
              (should (= 1 (window-point window)))))
        (kill-buffer buffer)))))

;;; hive-respond-test.el ends here
