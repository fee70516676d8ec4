;;; hive-next-test.el --- Answering one question after the other  -*- lexical-binding: t; -*-

;; Tags: as-displayed undisturbed

(require 'hive-test-help)

(require 'hive-next)

(defmacro hive-next-test-keys (questions keys &rest body)
  "Ask QUESTIONS, a list of fields, run `hive-next' with KEYS, then BODY.
Within BODY, `shown' are the texts that were shown, in order, and
`news' whether each was new to the human."
  (declare (indent 2))
  `(hive-test-with-desk nil
     (let* ((hive-drafts-directory (expand-file-name "drafts/" hive-test-temp))
            (keys ,keys) (shown nil) (news nil))
       (hive-test-connect)
       (dolist (fields ,questions) (hive-test-call 'fake/ask fields))
       (hive-test-wait 5 (= (length (hive-prompts)) (length ,questions)))
       (cl-letf (((symbol-function 'hive-keys-read)
                  (lambda (text new &rest _) (push text shown) (push new news) (or (pop keys) ?q)))
                 ((symbol-function 'sit-for) #'ignore))
         (hive-next))
       (setq shown (nreverse shown) news (nreverse news))
       ,@body)))

(defconst hive-next-test-options [(:label "yes") (:label "no")])

(ert-deftest hive-next-breaks-lines-between-keys-and-never-within-one ()
  (let* ((prompt (hive-test-prompt :multi_select t :options hive-next-test-options))
         (help (lambda (columns)
                 (cl-letf (((symbol-function 'hive-display-room) (lambda () (cons columns 20))))
                   (split-string (hive-next--help prompt (hive-words "* first only")) "\n"))))
         (keys (split-string (car (funcall help 1000)) "  ")))
    (should (equal "* first only" (car keys)))
    (should (equal "q quit" (car (last keys))))
    (dolist (columns '(80 60 40))
      (let ((lines (funcall help columns)))
        (should (cdr lines))
        (should (cl-every (lambda (line) (< (string-width line) columns)) lines))
        (should (equal keys (split-string (string-join lines "  ") "  ")))))))

(ert-deftest hive-next-breaks-a-long-description-between-words ()
  (let* ((description "From now on, for every file below this directory, whichever agent asks for it")
         (long (make-string 50 ?x))
         (prompt (hive-test-prompt :options (vector (list :label "Allow" :description description)
                                                    (list :label "Deny" :description (concat "See " long " first")))))
         (lines (lambda (text)
                  (cl-letf (((symbol-function 'hive-display-room) (lambda () '(40 . 20))))
                    (split-string (funcall text) "\n" t))))
         (choices (funcall lines (lambda () (hive-next--whole-choices prompt nil))))
         (confirmation (funcall lines (lambda () (hive-next--confirm-text (list prompt) "Allow" description)))))
    (should (equal '(" 1  Allow: From now on, for every file" "    below this directory, whichever" "    agent asks for it")
                   (seq-take choices 3)))
    ;; A word that is longer than a row is broken by Emacs.
    (should (equal (list " 2  Deny: See" (concat "    " long) "    first") (nthcdr 3 choices)))
    (should (eq 'hive-next-key (get-text-property 1 'face (car choices))))
    (should (member "Allow: From now on, for every file" confirmation))))

(defun hive-next-test-stored (count)
  "Wait until COUNT answers are stored and return them."
  (hive-test-wait 5 (= (length (hive-test-answers)) count))
  (hive-test-answers))

(ert-deftest hive-next-one-key-answers ()
  (hive-next-test-keys (list (list :options hive-next-test-options)) (list ?2)
    (should (equal ["no"] (plist-get (car (hive-next-test-stored 1)) :selected)))
    (should (= (length shown) 1))))

(ert-deftest hive-next-says-why-it-asks-where-there-is-room ()
  (let ((prompt (hive-test-prompt :session_id "why" :kind "permission" :question "Run make?"
                                  :options hive-next-test-options))
        (said "Reading the build.\nThe cache is stale, so I run make."))
    (cl-letf (((symbol-function 'hive-turns-newest)
               (lambda (id) (and (equal id "why") (list :last_words said)))))
      (let ((text (hive-next--one-text prompt nil 0)))
        (should (string-match-p "Run make\\?\n  It said: Reading the build\\. The cache is stale" text))
        (should (get-text-property 0 'hive-whole text)))
      ;; Words that have no room are not shown; the permission is.
      (cl-letf (((symbol-function 'hive-display-fits-p)
                 (lambda (text) (not (string-search "It said" text)))))
        (let ((text (hive-next--one-text prompt nil 0)))
          (should-not (string-search "It said" text))
          (should (get-text-property 0 'hive-whole text))))
      ;; Of long words the end is shown: it says what comes next.
      (setq said (concat (make-string 2000 ?a) " So I ask."))
      (should (string-match-p "It said: …a+ So I ask\\.\n" (hive-next--one-text prompt nil 0))))))

(ert-deftest hive-next-to-quit-a-minibuffer-goes-back-to-the-question ()
  (hive-test-with-inputs (list (lambda () (signal 'quit nil)))
    (hive-next-test-keys (list (list :question "Which?" :options hive-next-test-options :allow_free_text t))
        (list ?\r ?2)
      (should (= 2 (length shown)))
      (should (equal (car shown) (cadr shown)))
      (should (equal '(t t) news))
      (should (equal ["no"] (plist-get (car (hive-next-test-stored 1)) :selected))))))

(ert-deftest hive-next-offers-the-most-urgent-first-and-then-the-following ()
  (hive-next-test-keys (list (list :question "later?" :options hive-next-test-options)
                             (list :question "now?" :urgency "critical" :options hive-next-test-options))
      (list ?1 ?1)
    (hive-next-test-stored 2)
    (should (string-match-p "now\\?" (nth 0 shown)))
    (should (string-match-p "1 more" (nth 0 shown)))
    (should (string-match-p "later\\?" (nth 1 shown)))))

(ert-deftest hive-next-several-toggle-and-ret-sends ()
  (hive-next-test-keys (list (list :multi_select t :options [(:label "a") (:label "b") (:label "c")]))
      (list ?1 ?2 ?3 ?2 ?\r)
    (should (equal ["a" "c"] (plist-get (car (hive-next-test-stored 1)) :selected)))))

(ert-deftest hive-next-ret-takes-free-text ()
  (hive-test-with-desk nil
    (let ((hive-drafts-directory (expand-file-name "drafts/" hive-test-temp))
          (keys (list ?\r)))
      (hive-test-connect)
      (hive-test-call 'fake/ask '(:question "Name?"))
      (hive-test-wait 5 (hive-prompts))
      (cl-letf (((symbol-function 'hive-keys-read) (lambda (&rest _) (or (pop keys) ?q)))
                ((symbol-function 'read-string) (lambda (&rest _) "Aurora")))
        (hive-next))
      (should (equal "Aurora" (plist-get (car (hive-next-test-stored 1)) :decision))))))

(ert-deftest hive-next-without-free-text-ret-answers-nothing ()
  (hive-next-test-keys (list (list :allow_free_text :json-false :options hive-next-test-options))
      (list ?\r ?1)
    (should (equal ["yes"] (plist-get (car (hive-next-test-stored 1)) :selected)))))

(ert-deftest hive-next-tab-skips-and-q-leaves ()
  (hive-next-test-keys (list (list :question "one?") (list :question "two?")) (list ?\t ?q)
    (should (= (length shown) 2))
    (should-not (hive-test-answers))
    (should (= (length (hive-prompts)) 2))))

(ert-deftest hive-next-says-at-the-end-how-many-were-skipped ()
  (let ((said nil)
        (three (cl-loop for question in '("one?" "two?" "three?")
                        collect (list :question question :options hive-next-test-options))))
    (cl-letf (((symbol-function 'hive-next--linger) (lambda (text) (setq said text) nil)))
      (hive-next-test-keys three (list ?\t ?\t ?\t)
        (should (equal "3 skipped, still pending" said)))
      (hive-next-test-keys three (list ?\t ?1 ?\t)
        (should (equal "1 answered; 2 skipped, still pending" said)))
      (hive-next-test-keys three (list ?1 ?1 ?1)
        (should (equal "3 answered; no other questions" said))))))

(ert-deftest hive-next-a-snoozed-question-is-not-offered ()
  (hive-next-test-keys (list (list :question "away?" :snoozed_until "2999-01-01T00:00:00.000Z")) nil
    (should-not shown)))

(ert-deftest hive-next-text-of-agents-is-inert ()
  (hive-next-test-keys (list (list :question "100%s \u202Edone %d?" :options [(:label "%s\u200B")])) (list ?q)
    (should (string-match-p "100%s <U\\+202E>done %d" (car shown)))
    (should (string-match-p "%s<U\\+200B>" (car shown)))))

(ert-deftest hive-next-has-a-key-for-each-of-twenty-options ()
  (let* ((options (vconcat (cl-loop for n from 1 to 20 collect (list :label (format "o%d" n)))))
         (keys (mapcar #'car (hive-next--choices (list :options options)))))
    (should (= (length keys) 20))
    (should (= (length (delete-dups (copy-sequence keys))) 20))
    (should-not (memq ?s keys))
    (should-not (memq ?q keys))
    (should-not (memq ?e keys))))

(defmacro hive-next-test-small (&rest body)
  "Run BODY with an echo area of few lines; `opened' are the buffers shown."
  `(let (opened)
     (cl-letf (((symbol-function 'hive-display-room) (lambda () '(80 . 8)))
               ((symbol-function 'hive-prompt-show)
                (lambda (prompt) (push (plist-get prompt :question) opened))))
       ,@body)))

;;;; Only what was seen is answered

(defmacro hive-next-test-typing (events &rest body)
  "Run BODY while EVENTS are typed; nil among them is a pause."
  (declare (indent 1))
  `(let ((events ,events) (unread-command-events nil) (last-event-frame (selected-frame)))
     (cl-letf (((symbol-function 'read-event) (lambda (&rest _) (pop events)))
               ((symbol-function 'read-key)
                (lambda ()
                  (or (pop unread-command-events)
                      (progn (run-hooks 'echo-area-clear-hook) (pop events)))))
               ((symbol-function 'this-single-command-raw-keys) #'ignore)
               ((symbol-function 'hive-display-draw) (lambda (_) #'always)))
       ,@body)))

(ert-deftest hive-next-each-question-is-new-and-one-more-choice-is-not ()
  (hive-next-test-keys (list (list :question "a?" :created_at "2026-01-01" :options hive-next-test-options)
                             (list :question "b?" :created_at "2026-01-02" :multi_select t :options hive-next-test-options))
      (list ?1 ?1 ?2 ?\r)
    (should (= 2 (length (hive-next-test-stored 2))))
    (should (equal '(t t nil nil) news))))

(ert-deftest hive-keys-what-was-typed-before-it-was-shown-is-dropped ()
  (hive-next-test-typing (list ?1 ?\r ?1 nil ?2)
    (let ((drawn nil))
      (cl-letf (((symbol-function 'hive-display-draw) (lambda (text) (push text drawn) #'always))
                ((symbol-function 'hive-display-room) (lambda () '(80 . 30))))
        (should (= ?2 (hive-keys-read (make-string 70 ?x) t))))
      ;; The remark is not broken at the edge of the screen.
      (should (string-match-p "x\n(keys typed before" (car drawn))))
    (should-not events)))

;; A stalled Emacs notices first that the time is up, and then the key and the message that came before.
(ert-deftest hive-keys-what-came-while-emacs-was-stalled-is-dropped ()
  (hive-next-test-typing (list ?2)
    (let ((stalls 0) (covered nil))
      (cl-letf (((symbol-function 'hive-display-draw)
                 (lambda (_) (setq covered nil) (lambda () (not covered))))
                ((symbol-function 'read-event)
                 (lambda (&rest _)
                   (or (pop unread-command-events)
                       (pcase (setq stalls (1+ stalls))
                         (1 (push ?1 unread-command-events) nil)
                         (2 (run-at-time 0 nil (lambda () (setq covered t))) nil))))))
        (should (= ?2 (hive-keys-read "Sure?" t))))
      (should (= 3 stalls)))
    (should-not events)))

(ert-deftest hive-keys-count-only-while-the-text-is-on-the-screen ()
  (dolist (new '(nil t))
    (hive-next-test-typing (if new (list nil ?1) (list ?1))
      (let ((covered nil))
        (cl-letf (((symbol-function 'hive-display-draw) (lambda (_) (lambda () (not covered))))
                  ((symbol-function 'hive-every)
                   (lambda (&rest _) (setq covered t) (run-at-time 1000 nil #'ignore))))
          (should-not (hive-keys-read "Sure?" new))))))
  (hive-next-test-typing (list ?1)
    (cl-letf (((symbol-function 'hive-display-draw) #'ignore))
      (should (eq 'cut (hive-keys-read "Sure?" t)))
      (should (equal (list ?1) events)))))

;; Each is how the question on the screen ends, and what is said about it.
(defconst hive-next-test-ends
  `(((:status "responded" :decision "yes" :by "Bea") "answered by Bea")
    ((:status "cancelled" :cancel_reason "human") "cancelled")
    ((:status "cancelled" :cancel_reason "answered_elsewhere") "answered elsewhere")
    ((:terminal_since "2026-01-01T00:00:00.000Z") "left to its terminal")
    (nil "closed")))

(ert-deftest hive-next-a-question-that-is-settled-elsewhere-takes-no-key ()
  (pcase-dolist (`(,change ,says) hive-next-test-ends)
    (hive-test-connected
      (hive-test-call 'fake/ask (list :question "First?" :urgency "critical" :options hive-next-test-options))
      (hive-test-call 'fake/ask (list :question "Second?" :options hive-next-test-options))
      (hive-test-wait 5 (= 2 (length (hive-prompts))))
      (let* ((first (car (hive-prompts))) (second (cadr (hive-prompts)))
             (drawn nil) (typed (list ?1 ?2)))
        ;; The first is on the screen; one key comes as it is settled, and one while that is said.
        (hive-next-test-typing (list nil ?1 nil nil)
          (cl-letf (((symbol-function 'hive-display-draw) (lambda (text) (push text drawn) #'always))
                    ((symbol-function 'read-key)
                     (lambda ()
                       (run-hooks 'echo-area-clear-hook)
                       (cond ((null (cdr typed)))
                             (change (hive-model-put-prompt (append change first)))
                             ;; A new connection fetches what is pending.
                             (t (hive-model-replace (list second))))
                       (pop typed))))
            (hive-next))
          (should-not events))
        (should (member (format-message "%s's question is already %s: First?" (hive-text-title first) says) drawn))
        (let ((answer (car (hive-next-test-stored 1))))
          (should (equal (plist-get second :ask_id) (plist-get answer :ask_id)))
          (should (equal ["no"] (plist-get answer :selected))))))))

(ert-deftest hive-keys-without-a-key-a-text-that-is-out-of-date-is-left ()
  (hive-next-test-typing (list nil ?1)
    (let ((below (list "" "" nil)))
      (cl-letf (((symbol-function 'hive-every)
                 (lambda (_ look) (funcall look) (run-at-time 1000 nil #'ignore))))
        (should-not (hive-keys-read "Sure?" t nil (lambda () (pop below))))))
    (should (equal (list ?1) events))))

(ert-deftest hive-next-says-no-longer-that-an-agent-is-blocked-which-goes-on ()
  (let ((prompt (hive-test-prompt :blocked_since "2026-01-01T00:00:00.000Z" :options hive-next-test-options)))
    (unwind-protect
        (progn
          (hive-model-put-prompt prompt)
          (let ((below (hive-next--news (list prompt))))
            (should (string-match-p "blocked for" (hive-next--one-text prompt nil 0)))
            (should (equal "" (funcall below)))
            (hive-model-put-prompt (append '(:blocked_since nil) prompt))
            (should-not (funcall below))
            (should-not (string-match-p "blocked for" (hive-next--one-text prompt nil 0)))
            (should (equal "" (funcall (hive-next--news (list prompt)))))))
      (hive-model-forget))))

(defconst hive-next-test-note [(:text "b got cheaper" :at "2026-01-01T12:05:00.000Z")])

(ert-deftest hive-next-shows-a-note-that-arrives-before-keys-count ()
  (hive-test-connected
    (hive-test-call 'fake/ask (list :question "Which?" :options [(:label "a") (:label "b")]))
    (hive-test-wait 5 (hive-prompts))
    (let ((typed (list ?1 ?2)) (drawn nil) (waited nil) (claims 0))
      ;; One key comes as the note does, and one while the note is new.
      (hive-next-test-typing (list nil ?1 nil)
        (cl-letf (((symbol-function 'hive-display-draw) (lambda (text) (push text drawn) #'always))
                  ((symbol-function 'read-event) (lambda (_ _ seconds) (push seconds waited) (pop events)))
                  ((symbol-function 'hive-respond-claim) (lambda (_) (setq claims (1+ claims))))
                  ((symbol-function 'read-key)
                   (lambda ()
                     (run-hooks 'echo-area-clear-hook)
                     (when (cdr typed)
                       (hive-model-put-prompt (append (list :notes hive-next-test-note) (car (hive-prompts)))))
                     (pop typed))))
          (hive-next))
        (should-not events))
      (should (equal (list 0.3 2 2) (nreverse waited)))
      (should (= 2 claims))
      (should (string-match-p "Which\\?\nThe agent added at .*: b got cheaper\n" (car drawn)))
      (should-not (string-search "cheaper" (car (last drawn))))
      (should (equal ["b"] (plist-get (car (hive-next-test-stored 1)) :selected))))))

(ert-deftest hive-next-beside-the-side-window-has-the-newest-note ()
  (let ((prompt (hive-test-prompt :question "Which?" :notes (vconcat [(:text "first" :at "2026-01-01T12:00:00.000Z")]
                                                                     hive-next-test-note))))
    (should (string-match-p "Which\\?\nThe agent added at .*: b got cheaper\n"
                            (hive-next--short-text prompt 0 "" t)))))

(ert-deftest hive-next-counts-the-questions-that-arrive-and-takes-no-key-for-it ()
  (hive-test-connected
    (hive-test-call 'fake/ask (list :question "First?" :urgency "critical" :options hive-next-test-options))
    (hive-test-wait 5 (hive-prompts))
    (let ((shown nil) (news nil))
      (cl-letf (((symbol-function 'hive-keys-read)
                 (lambda (text new _harmless below stale)
                   (push text shown)
                   (push new news)
                   (cond ((cdr shown) ?q)
                         (t (should-not (funcall stale))
                            (hive-test-call 'fake/ask (list :question "Second?"))
                            (hive-test-wait 5 (cdr (hive-prompts)))
                            (should (funcall below))
                            (should (funcall stale))
                            'hive-stale)))))
        (hive-next))
      (should-not (string-search "more)" (cadr shown)))
      (should (string-search "(1 more)" (car shown)))
      (should (equal '(nil t) news)))))

(ert-deftest hive-keys-a-text-to-be-shown-again-takes-no-key ()
  (hive-next-test-typing (list ?1)
    (should (= ?1 (hive-keys-read "Sure?" nil nil nil #'always))))
  (hive-next-test-typing (list ?1)
    (cl-letf (((symbol-function 'hive-every)
               (lambda (_ look) (funcall look) (run-at-time 1000 nil #'ignore))))
      (should (eq 'hive-stale (hive-keys-read "Sure?" nil nil nil #'always))))
    (should (equal (list ?1) events))
    (should-not unread-command-events)))

(ert-deftest hive-next-shows-the-question-while-own-words-are-typed ()
  (hive-test-with-inputs
      (list (lambda ()
              (should (string-search "in the cache" (with-current-buffer hive-read--buffer (buffer-string))))
              "both"))
    (hive-next-test-keys (list (list :question "Which?" :context "in the cache" :options hive-next-test-options
                                     :allow_free_text t))
        (list ?\r)
      (should (equal "both" (plist-get (car (hive-next-test-stored 1)) :decision)))
      (should-not (get-buffer hive-read--buffer)))))

(ert-deftest hive-next-says-that-own-words-come-late-before-it-goes-on ()
  (hive-test-connected
    (let ((id (plist-get (hive-test-call 'fake/ask (list :question "Which?")) :ask_id)) (keys (list ?\r)) (said nil) (seen nil))
      (hive-test-wait 5 (hive-prompts))
      (cl-letf (((symbol-function 'hive-keys-read) (lambda (&rest _) (or (pop keys) ?q)))
                ((symbol-function 'message) (lambda (format &rest args) (setq said (apply #'format-message format args))))
                ((symbol-function 'sit-for) (lambda (&rest _) (push said seen))))
        (hive-test-with-inputs (list (lambda ()
                                       (hive-test-call 'fake/change (list :ask_id id :status "expired"))
                                       (hive-test-wait 5 (null (hive-prompts)))
                                       "both"))
          (hive-next)))
      (should (string-match-p "already expired; your answer will be stored as late" (car seen))))))

(defvar xterm-extra-capabilities)

(ert-deftest hive-keys-ask-a-new-terminal-nothing ()
  ;; The answer of an emacsclient's would then be typed into a buffer.
  (let ((xterm-extra-capabilities 'check) (asked 'unknown))
    (hive-next-test-typing (list ?1)
      (cl-letf (((symbol-function 'read-key) (lambda () (setq asked xterm-extra-capabilities) ?1)))
        (hive-keys-read "Sure?" nil)))
    (should-not asked)))

(ert-deftest hive-next-a-question-that-is-cut-off-is-opened ()
  (hive-next-test-small
    (hive-next-test-keys (list (list :question "Go?" :options hive-next-test-options)) (list 'cut ?1)
      (should (equal '("Go?") opened))
      (should-not (hive-test-answers)))))

(ert-deftest hive-keys-count-at-once-where-nothing-is-new ()
  (hive-next-test-typing (list ?1 ?2)
    (should (= ?1 (hive-keys-read "Sure?" nil)))))

(ert-deftest hive-keys-a-harmless-one-is-never-too-early ()
  (hive-next-test-typing (list ?\t ?1)
    (should (= ?\t (hive-keys-read "Sure?" t '(?\t)))))
  ;; After a key that was ignored it is ignored too.
  (hive-next-test-typing (list ?1 ?\t nil ?2)
    (should (= ?2 (hive-keys-read "Sure?" t '(?\t))))))

(ert-deftest hive-next-shows-as-much-of-the-context-and-of-the-options-as-fits ()
  (let* ((options [(:label "yes" :description "at once") (:label "no" :description "never\u202E")])
         (lines (mapconcat (lambda (n) (format "line %d" n)) (number-sequence 1 9) "\n\n"))
         (text (lambda (room context &rest more)
                 (cl-letf (((symbol-function 'hive-display-room) (lambda () (cons 80 room))))
                   (hive-next--text (list (apply #'hive-test-prompt :question "Now?" :options options
                                                 :context context more))
                                    nil 0)))))
    (should (string-match-p "Now\\?\n  line 1\n\\(?:  line [2-8]\n\\)\\{7\\}  line 9\n 1  yes: at once\n 2  no: never<U\\+202E>\n"
                            (funcall text 20 lines)))
    (should (string-match-p "Now\\?\n\\(?:  line [1-7]\n\\)\\{7\\}  … and 2 more lines; SPC [^\n]*\n 1  yes: at once\n 2  no"
                            (funcall text 15 lines)))
    ;; Where that is too much, the options are in one line.
    (should (string-match-p " 1  yes    2  no\n" (funcall text 9 lines)))
    (should (string-match-p "  a\n  … and more; SPC [^\n]*\n 1  yes: at once" (funcall text 20 "a" :context_truncated t)))
    (should (string-match-p "Now\\?\n 1  yes: at once" (funcall text 20 nil)))))

(ert-deftest hive-next-says-how-to-see-all-of-a-long-option ()
  (let ((said (lambda (label)
                (let ((prompt (hive-test-prompt :options `[(:label ,label)])))
                  (string-search "SPC show all of it"
                                 (hive-next--short-text prompt 0 (hive-next--choices-line prompt nil)))))))
    (should (funcall said (make-string 70 ?x)))
    (should-not (funcall said "yes"))))

(ert-deftest hive-next-a-long-question-is-broken-between-words ()
  (let ((question (concat (make-string 70 ?x) " and then the next of the words")))
    (cl-letf (((symbol-function 'hive-display-room) (lambda () '(80 . 20))))
      (should (string-match-p "x and then\n    the next of the words\n"
                              (hive-next--text (list (hive-test-prompt :question question)) nil 0)))
      ;; The words of a permission are shown as they are.
      (should (string-match-p "x and then the next"
                              (hive-next--text (list (hive-test-prompt :question question :kind "permission")) nil 0))))))

(ert-deftest hive-next-a-change-is-shown-before-the-descriptions-of-options ()
  (let* ((always (concat "By the client itself: " (make-string 50 ?x)))
         (context (mapconcat (lambda (n) (format "+line %d" n)) (number-sequence 1 14) "\n"))
         (prompt (hive-test-prompt
                  :kind "permission" :dialog t :question "Change it?" :context context :allow_free_text t
                  :options `[(:label "Allow" :description "This once") (:label "Allow always" :description ,always)
                             (:label "Deny" :description "Your words are the reason" :refuses t)
                             (:label "Abort" :description "Deny, and end the turn" :refuses t)]))
         (text (lambda (room)
                 (cl-letf (((symbol-function 'hive-display-room) (lambda () (cons 80 room))))
                   (hive-next--text (list prompt) nil 0)))))
    ;; In a terminal of 24 lines, all that a key could allow is shown.
    (let ((shown (funcall text 22)))
      (should (get-text-property 0 'hive-whole shown))
      (should (string-match-p "  \\+line 1\n\\(?:  .*\n\\)\\{12\\}  \\+line 14\n 1  Allow: This once\n 2  Allow always: By the client itself:\n    x+    3  Deny    4  Abort\n.*A allow by a rule" shown))
      (dolist (line (split-string shown "\n")) (should (< (string-width line) 80))))
    (should (string-match-p "4  Abort: Deny, and end the turn\n A " (funcall text 30)))
    ;; Where it does not fit, it has the room that is left.
    (let ((shown (funcall text 19)))
      (should-not (get-text-property 0 'hive-whole shown))
      (should (string-match-p "  \\+line 10\n  … and 4 more lines;.*\nToo long.*\n 1  Allow    2  Allow always    3  Deny    4  Abort\n" shown)))))

(ert-deftest hive-next-shows-the-context-and-the-descriptions-in-a-group-too ()
  (let ((batch (mapcar (lambda (agent)
                         (hive-test-prompt :agent agent :question "Now?" :context "Both tables are empty.\n"
                                           :options [(:label "yes" :description "at once")]))
                       '("one" "two"))))
    (cl-letf (((symbol-function 'hive-display-room) (lambda () '(80 . 20))))
      (should (string-match-p "Now\\?\n  Both tables are empty\\.\n  one, two\n 1  yes: at once\n"
                              (hive-next--text batch nil 0))))
    (cl-letf (((symbol-function 'hive-display-room) (lambda () '(80 . 7))))
      (should (string-match-p "  Both tables are empty\\.\n  one, two\n 1  yes\n" (hive-next--text batch nil 0))))))

(ert-deftest hive-next-skips-as-fast-as-tab-is-pressed ()
  (hive-test-connected
    (dolist (question '("one?" "two?" "three?"))
      (hive-test-call 'fake/ask (list :question question :options hive-next-test-options)))
    (hive-test-wait 5 (= 3 (length (hive-prompts))))
    (let ((third (plist-get (nth 2 (hive-prompts-mine)) :ask_id)))
      ;; No pause before or between the keys; the first that is not TAB is ignored.
      (hive-next-test-typing (list ?\t ?\t ?1 nil ?2)
        (hive-next)
        (should-not events))
      (let ((answer (car (hive-next-test-stored 1))))
        (should (equal ["no"] (plist-get answer :selected)))
        (should (equal third (plist-get answer :ask_id)))))))

(ert-deftest hive-next-has-every-key-in-its-docstring ()
  (let ((text (substitute-command-keys (documentation 'hive-next))))
    (dolist (key '("RET" "\\be\\b" "TAB" "\\bs snoozes" "\\bq quits" "\\bo quits" "\\? shows" "where N goes to the next one"))
      (should (string-match-p key text)))))

(ert-deftest hive-keys-to-quit-is-never-too-early ()
  (hive-next-test-typing (list ?1 ?\C-g ?2)
    (should (= ?\C-g (hive-keys-read "Sure?" t)))))

(ert-deftest hive-next-a-keyboard-macro-answers-nothing ()
  (let ((executing-kbd-macro "1"))
    (should-error (hive-next) :type 'user-error)))

(ert-deftest hive-next-a-key-that-means-nothing-leaves-and-is-given-back ()
  (let ((unread-command-events nil))
    (hive-next-test-keys (list (list :options hive-next-test-options)) (list ?\C-x ?2)
      (should (= 1 (length shown)))
      (should (equal (list ?\C-x) unread-command-events))
      (should-not (hive-test-answers))
      (should (hive-prompts)))))

(ert-deftest hive-next-the-whole-sequence-is-given-back ()
  (let ((unread-command-events nil) (hive-next--raw [?\e ?x]))
    (hive-keys-give-back ?\M-x)
    (should (equal (list ?\e ?x) unread-command-events))))

(ert-deftest hive-next-what-a-terminal-translated-is-given-back-as-one-event ()
  (let ((unread-command-events nil) (hive-next--raw (vconcat "\e[200~")))
    (hive-keys-give-back '(xterm-paste "hello"))
    (should (equal '((xterm-paste "hello")) unread-command-events))))

(ert-deftest hive-keys-a-meta-key-of-a-terminal-is-no-escape ()
  (should (equal ?\M-x (hive-next--whole ?\e [?\e ?x])))
  (should (equal ?\e (hive-next--whole ?\e [?\e])))
  (should (equal 'up (hive-next--whole 'up [?\e ?\[ ?A]))))

(ert-deftest hive-next-the-key-of-an-option-that-is-not-there-goes-nowhere-else ()
  (let ((unread-command-events nil))
    (with-temp-buffer
      (hive-next-test-keys (list (list :options hive-next-test-options)) (list ?7 ?2)
        (should (equal ["no"] (plist-get (car (hive-next-test-stored 1)) :selected)))
        (should-not unread-command-events)))))

(ert-deftest hive-next-a-key-that-types-something-goes-nowhere-else ()
  (let ((unread-command-events nil))
    (with-temp-buffer
      ;; As in Org, C and a terminal: the command that inserts has a name of its own.
      (use-local-map (make-sparse-keymap))
      (local-set-key "Y" (lambda () (interactive) (insert "Y")))
      (hive-next-test-keys (list (list :options hive-next-test-options)) (list ?Y ?2)
        (should (equal ["no"] (plist-get (car (hive-next-test-stored 1)) :selected)))
        (should-not unread-command-events)))))

;;;; Permissions

(defconst hive-next-test-permission
  (list :kind "permission" :dialog t :question "Run rm -rf build/ ?"
        :context "rm -rf build/ %s\n\nTool: Bash\n\nDirectory: /demo\nfour\nfive\nsix\nseven"
        :options [(:label "Allow" :description "This once") (:label "Allow always" :description "Bash(rm *)")
                  (:label "Deny" :refuses t)]))

(ert-deftest hive-next-a-permission-is-named-and-says-what-it-is-about ()
  (hive-next-test-keys (list hive-next-test-permission) nil
    (let ((text (car shown)))
      (should (string-match "PERMISSION Run rm -rf build/ \\?\n  rm -rf build/ %s\n  Tool: Bash\n" text))
      (should (eq 'hive-warning (get-text-property (match-beginning 0) 'face text)))
      ;; The rule that Hive itself would write is in a line of its own, below the client's options.
      (should (string-match-p "  six\n  seven\n 1  Allow: This once\n 2  Allow always: Bash(rm \\*)\n 3  Deny\n A  Always allow by a rule of Hive in your trust\\.json" text)))))

(ert-deftest hive-next-offers-a-rule-only-for-a-call-that-a-client-asks-for ()
  (let ((agents (append '(:dialog :json-false) hive-next-test-permission))
        (plan (append '(:question "Approve this plan?" :options [(:label "Approve") (:label "Keep planning" :refuses t)])
                      hive-next-test-permission))
        (ruled nil))
    (cl-letf (((symbol-function 'hive-rule-for) (lambda (prompt) (push prompt ruled))))
      (dolist (other (list agents plan))
        (hive-next-test-keys (list other) (list ?A ?q)
          (should-not (string-search "Always allow by a rule" (car shown)))
          (should-not ruled)))
      (hive-next-test-keys (list hive-next-test-permission) (list ?A)
        (should (= 1 (length ruled)))))))

(ert-deftest hive-next-shows-what-the-keys-do-in-place-of-the-question-until-a-key-is-pressed ()
  (let (described)
    (cl-letf (((symbol-function 'describe-function) (lambda (function) (setq described function))))
      ;; The 1 that leaves the keys answers nothing.
      (hive-next-test-keys (list (list :options hive-next-test-options)) (list ?? ?1 ?2)
        (pcase-let ((`(,question ,keys ,again) shown))
          ;; Below the heading, which counts the seconds.
          (should (equal (cdr (split-string question "\n")) (cdr (split-string again "\n"))))
          ;; All of it fits into the echo area of a terminal of 80 columns and 24 lines.
          (should (<= (length (split-string keys "\n")) 16))
          (dolist (line (split-string keys "\n")) (should (< (string-width line) 80)))
          (dolist (word (remove "? keys" (split-string (hive-next--help (hive-test-prompt :options hive-next-test-options)) "  ")))
            (should (string-match-p (concat "^ " (regexp-quote (car (split-string word))) " ") keys)))
          (should (string-suffix-p "Any key goes back to the question" keys)))
        ;; Afterwards the question is new on the screen.
        (should (equal '(t nil t) (nreverse news)))
        (should-not described)
        (should (equal ["no"] (plist-get (car (hive-next-test-stored 1)) :selected)))))))

(ert-deftest hive-next-shows-the-keys-in-a-help-buffer-where-the-echo-area-has-no-room ()
  (let (described)
    (cl-letf (((symbol-function 'describe-function) (lambda (function) (setq described function))))
      (hive-next-test-keys (list (list :options hive-next-test-options)) (list ?? 'cut ?2)
        (should (eq described 'hive-next))
        (should (equal ["no"] (plist-get (car (hive-next-test-stored 1)) :selected)))))))

(ert-deftest hive-next-what-does-not-fit-is-opened-and-not-allowed ()
  (hive-next-test-small
    (hive-next-test-keys (list hive-next-test-permission) (list ?1 ?y)
      (should (string-match-p "  five\n  … and 2 more lines; SPC scrolls them in a side window\nToo long to show here" (car shown)))
      ;; The echo area would break a line that is longer in the middle of a word.
      (dolist (line (split-string (car shown) "\n")) (should (< (string-width line) 80)))
      (should (= 1 (length shown)))
      (should (equal '("Run rm -rf build/ ?") opened))
      (should-not (hive-test-answers))
      (should (hive-prompts)))))

(ert-deftest hive-next-what-does-not-fit-leaves-the-room-to-the-side-window-that-shows-it ()
  (save-window-excursion
    (hive-next-test-small
      (hive-next-test-keys (list hive-next-test-permission) (list ?\s)
        (pcase-let ((`(,before ,beside) shown))
          (should (string-match-p "SPC scrolls them in a side window" before))
          (should (string-match-p
                   (concat "\\`.*  PERMISSION Run rm -rf build/ \\?\n"
                           " 1  Allow    2  Allow always    3  Deny\n"
                           "SPC, DEL scroll (to its end before you allow it)  RET type an answer\n"
                           "\\+ add words  A allow by a rule of Hive  TAB skip  s snooze  o open  \\? keys\n"
                           "q quit\\'")
                   beside))
          (should-not (hive-test-answers)))))))

(ert-deftest hive-next-a-question-that-is-cut-says-how-to-read-all-of-it ()
  (hive-next-test-small
    (hive-next-test-keys (list (list :question (apply #'concat (make-list 80 "Very long. ")) :options hive-next-test-options)
                               (list :question "Short?" :context (make-string 30 ?\n) :options hive-next-test-options))
        (list ?2 ?2)
      (should (string-match-p "lon…\n 1  yes .*\nSPC show all of it  RET type" (car shown)))
      (should-not (string-search "SPC show" (nth 1 shown))))))

(ert-deftest hive-next-what-does-not-fit-can-be-denied ()
  (hive-next-test-small
    (hive-next-test-keys (list hive-next-test-permission) (list ?3)
      (should (equal ["Deny"] (plist-get (car (hive-next-test-stored 1)) :selected)))
      (should-not opened))))

(ert-deftest hive-next-a-context-that-was-cut-is-not-allowed ()
  (hive-next-test-small
    (cl-letf (((symbol-function 'hive-display-room) (lambda () '(80 . 80))))
      (hive-next-test-keys (list (append hive-next-test-permission '(:context_truncated t))) (list ?1 ?y)
        (should opened)
        (should-not (hive-test-answers))))))

(ert-deftest hive-next-an-answer-says-what-was-displayed ()
  (hive-next-test-keys (list hive-next-test-permission) (list ?1 ?y)
    (should (string-match-p "\\`digest-" (plist-get (car (hive-next-test-stored 1)) :displayed_digest)))))

(ert-deftest hive-respond-nothing-allows-what-was-not-displayed ()
  (hive-next-test-small
    (let ((prompt (append '(:ask_id "unseen" :digest "d" :dialog t) hive-next-test-permission)))
      (dolist (answer '((:decision "Allow" :selected ["Allow"])
                        (:decision "Deny, Allow" :selected ["Deny" "Allow"])))
        (should-error (hive-respond-params prompt answer) :type 'user-error))
      (should (hive-respond-params prompt '(:decision "Deny" :selected ["Deny"])))
      ;; In a dialog, free text denies; elsewhere it may allow.
      (should (hive-respond-params prompt '(:decision "yes")))
      (should-error (hive-respond-params (plist-put (copy-sequence prompt) :dialog :json-false)
                                         '(:decision "yes"))
                    :type 'user-error)
      (hive-display-whole prompt)
      (should (equal "d" (plist-get (hive-respond-params prompt '(:decision "Allow" :selected ["Allow"]))
                                    :displayed_digest)))
      ;; A different text with the same id was not displayed.
      (should-error (hive-respond-params (plist-put (copy-sequence prompt) :digest "e")
                                         '(:decision "Allow" :selected ["Allow"]))
                    :type 'user-error))))

(ert-deftest hive-next-a-question-is-not-called-a-permission ()
  (hive-next-test-keys (list (list :question "Go?" :context "because" :options hive-next-test-options)) nil
    (should-not (string-match-p "PERMISSION\\|Always allow" (car shown)))))

(ert-deftest hive-next-an-answer-that-allows-is-confirmed ()
  (dolist (key (list ?y ?\r))
    (hive-next-test-keys (list hive-next-test-permission) (list ?2 key)
      (should (equal ["Allow always"] (plist-get (car (hive-next-test-stored 1)) :selected)))
      ;; It is also confirmed again, and the confirmation names the scope.
      (should (equal '(t t) news))
      (should (string-match-p "Allow always: Bash(rm \\*)" (nth 1 shown))))))

(ert-deftest hive-next-an-answer-that-is-not-confirmed-allows-nothing ()
  (hive-next-test-keys (list hive-next-test-permission) (list ?1 ?n ?1 ?1 ?q ?q)
    (should-not (hive-test-answers))
    (should (hive-prompts))))

(ert-deftest hive-next-a-prefix-at-the-confirmation-leaves ()
  (let ((unread-command-events nil))
    (hive-next-test-keys (list hive-next-test-permission) (list ?1 ?\C-x)
      (should (equal (list ?\C-x) unread-command-events))
      (should (= 2 (length shown)))
      (should-not (hive-test-answers)))))

(ert-deftest hive-next-to-deny-needs-no-second-key ()
  (hive-next-test-keys (list hive-next-test-permission) (list ?3)
    (should (equal ["Deny"] (plist-get (car (hive-next-test-stored 1)) :selected)))))

(ert-deftest hive-next-plus-adds-words-to-an-option ()
  (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "not today")))
    (hive-next-test-keys (list (list :options hive-next-test-options)) (list ?+ ?2)
      (let ((answer (car (hive-next-test-stored 1))))
        (should (equal ["no"] (plist-get answer :selected)))
        (should (equal "not today" (plist-get answer :comment)))))
    ;; An answer that allows is confirmed, with its words on the screen.
    (hive-next-test-keys (list hive-next-test-permission) (list ?+ ?1 ?y)
      (should (string-match-p "Allow: not today" (nth 2 shown)))
      (should (equal "not today" (plist-get (car (hive-next-test-stored 1)) :comment))))
    (hive-next-test-keys (list (list :options hive-next-test-options)) (list ?+ ?9 ?q)
      (should-not (hive-test-answers)))))

(defun hive-next-test-chosen (keys words)
  "Return the answer to a question with several options, given with KEYS and WORDS."
  (cl-letf (((symbol-function 'read-string) (lambda (&rest _) words)))
    (hive-next-test-keys (list (list :multi_select t :options [(:label "a") (:label "b") (:label "c")])) keys
      (let ((answer (car (hive-next-test-stored 1))))
        (list (plist-get answer :selected) (plist-get answer :comment))))))

(ert-deftest hive-next-words-are-a-comment-on-all-that-is-chosen ()
  (should (equal '(["a" "b"] "with words") (hive-next-test-chosen (list ?1 ?+ ?2) "with words")))
  (should (equal '(["c" "a"] "with words") (hive-next-test-chosen (list ?3 ?1 ?+ ?3) "with words")))
  (should (equal '(["a"] "my words") (hive-next-test-chosen (list ?1 ?e) "my words")))
  ;; Without words it is still chosen.
  (should (equal '(["a"] nil) (hive-next-test-chosen (list ?1 ?e ?\r) " "))))

(ert-deftest hive-next-words-allow-nothing-chosen-that-was-not-displayed ()
  (dolist (keys '((?1 ?+ ?3) (?1 ?e)))
    (hive-next-test-small
      (hive-next-test-keys (list (append '(:multi_select t) hive-next-test-permission)) (copy-sequence keys)
        (should opened)
        (should-not (hive-test-answers))))))

(ert-deftest hive-next-a-template-with-an-option-chooses-it ()
  (let ((hive-reply-templates '((nil nil ("no" "keep it.")))))
    (hive-next-test-keys (list (list :options hive-next-test-options)) (list ?3)
      (let ((answer (car (hive-next-test-stored 1))))
        (should (equal ["no"] (plist-get answer :selected)))
        (should (equal "keep it." (plist-get answer :comment)))))))

(ert-deftest hive-next-a-template-that-may-allow-is-confirmed-and-one-that-only-denies-is-not ()
  (let ((hive-reply-templates '(("permission" nil "yes, go"))))
    (hive-next-test-keys (list (append '(:dialog :json-false) hive-next-test-permission)) (list ?4 ?n)
      (should-not (hive-outbox-entries 'pending))
      (should-not (hive-test-answers)))
    (hive-next-test-keys (list hive-next-test-permission) (list ?4)
      (should (equal "yes, go" (plist-get (car (hive-next-test-stored 1)) :decision))))))

;;;; Drafts

(ert-deftest hive-compose-a-draft-comes-back-and-is-private ()
  (let ((hive-drafts-directory (file-name-as-directory (make-temp-file "hive-drafts" t))))
    (unwind-protect
        (progn
          (should (hive-compose-keep "ask-1" "half an ä"))
          (should (equal "half an ä" (hive-compose-draft "ask-1")))
          (should (= #o600 (logand #o777 (file-modes (hive-compose--file "ask-1")))))
          (hive-compose-keep "ask-1" "  ")
          (should-not (hive-compose-draft "ask-1")))
      (delete-directory hive-drafts-directory t))))

(ert-deftest hive-compose-an-id-is-not-used-as-a-path ()
  (let ((hive-drafts-directory "/drafts/"))
    (should (equal "/drafts/______etc_passwd.txt" (hive-compose--file "../../etc/passwd")))))

(ert-deftest hive-compose-a-full-disk-loses-no-text ()
  (let ((hive-drafts-directory (file-name-as-directory (make-temp-file "hive-drafts" t))))
    (unwind-protect
        (with-temp-buffer
          (insert "long answer")
          (cl-letf (((symbol-function 'write-region)
                     (lambda (&rest _) (signal 'file-error '("Writing" "No space left on device")))))
            (should-not (hive-compose-keep "ask-1" (buffer-string))))
          (should (equal "long answer" (buffer-string))))
      (delete-directory hive-drafts-directory t))))

(ert-deftest hive-compose-sends-the-buffer-and-forgets-the-draft ()
  (hive-test-with-desk nil
    (let ((hive-drafts-directory (expand-file-name "drafts/" hive-test-temp)))
      (hive-test-connect)
      (hive-test-call 'fake/ask '(:question "Why?"))
      (hive-test-wait 5 (hive-prompts))
      (let ((id (plist-get (car (hive-prompts)) :ask_id)))
        (hive-compose (car (hive-prompts)))
        (insert "Because.\n\nOf this.")
        (hive-draft-save)
        (should (hive-compose-draft id))
        (hive-compose-send)
        (should (equal "Because.\n\nOf this."
                       (plist-get (car (hive-next-test-stored 1)) :decision)))
        (should-not (hive-compose-draft id))))))

(ert-deftest hive-compose-a-draft-put-aside-comes-back ()
  (hive-test-with-desk nil
    (let ((hive-drafts-directory (expand-file-name "drafts/" hive-test-temp)))
      (hive-test-connect)
      (hive-test-call 'fake/ask '(:question "Why?"))
      (hive-test-wait 5 (hive-prompts))
      (hive-compose (car (hive-prompts)))
      (insert "Half")
      (hive-compose-put-aside)
      (hive-compose (car (hive-prompts)))
      (should (equal "Half" (hive-compose-text)))
      (hive-compose-put-aside))))

;;;; The buffer of a question

(ert-deftest hive-prompt-ret-answers-and-on-a-button-presses-it ()
  (hive-test-with-question (list :question "Go?" :options hive-next-test-options)
    (save-window-excursion
      (switch-to-buffer (hive-prompt-buffer (car (hive-prompts))))
      (goto-char (point-min))
      (let (asked)
        (cl-letf (((symbol-function 'hive-read-answer)
                   (lambda (prompt) (setq asked (plist-get prompt :question))
                     (list :decision "yes" :selected ["yes"]))))
          (call-interactively (key-binding (kbd "RET"))))
        (should (equal "Go?" asked))
        (should (equal ["yes"] (plist-get (car (hive-next-test-stored 1)) :selected))))
      (kill-buffer))
    (hive-test-call 'fake/ask (list :question "Stop?" :options hive-next-test-options))
    (hive-test-wait 5 (= 1 (length (hive-prompts))))
    (save-window-excursion
      (switch-to-buffer (hive-prompt-buffer (car (hive-prompts))))
      (goto-char (point-min))
      (forward-button 2)
      (call-interactively (key-binding (kbd "RET")))
      (should (equal ["no"] (plist-get (cadr (hive-next-test-stored 2)) :selected)))
      (kill-buffer))))

(ert-deftest hive-prompt-context-is-coloured-and-nothing-else ()
  (let* ((text (propertize "# Head\n`code` %s\n```\nblock\n```\n" 'keymap 'evil 'display "x" 'invisible t))
         (coloured (with-temp-buffer
                     (hive-markdown-insert (hive-text-inert text))
                     (buffer-string))))
    (should (equal (substring-no-properties coloured) (substring-no-properties text)))
    (should (text-property-any 0 (length coloured) 'face 'hive-prompt-code coloured))
    (dotimes (n (length coloured))
      (should-not (cl-set-difference
                   (cl-loop for (property) on (text-properties-at n coloured) by #'cddr collect property)
                   '(face))))))
